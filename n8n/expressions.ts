// Translates n8n's expressions into variables. An expression that no variable can express stays text; nothing is
// evaluated.
import { holdsMoreThan, leavesOf, mapLeaves } from '../graph/json.js';
import { isDeeperThan } from '../graph/json-depth.js';
import { findExpressions } from '../graph/template.js';
import type { PathPart } from '../graph/variable.js';
import { templateAt, type JsonPlace } from './json-places.js';

export interface Names {
  /** The `json` of the incoming items. */
  json: JsonPlace;
  /**
   * Returns the `json` of the output by which the named node leads to the reader, as in n8n, or the reason why this
   * `json` cannot be read. If `output` is given, no other output may lead to the reader.
   */
  node: (name: string, output?: number) => JsonPlace | string;
  /** The variable with the callback address, if exactly one node of the file waits for a call. */
  callbackUrl: string | undefined;
  title: string;
  /** The time zone of the workflow. */
  zone: string;
}

export interface Problem {
  expression: string;
  reason: string;
}

export interface Translated {
  value: unknown;
  problems: Problem[];
}

type Read = { value: unknown } | { reason: string };

/**
 * Translates a parameter of n8n. A text that starts with `=` is an expression: text with `{{ }}` in it. An expression
 * that is exactly one `{{ }}` keeps its JSON type.
 */
export function translateParameter(parameter: unknown, names: Names): Translated {
  if (typeof parameter !== 'string') return { value: parameter, problems: [] };
  if (!parameter.startsWith('=')) return translateLiteral(parameter);
  const text = parameter.slice(1);
  const [only, ...others] = piecesOf(text);
  if (only !== undefined && others.length === 0 && only.source !== undefined) {
    const read = readExpression(only.source, names);
    if ('value' in read) return { value: read.value, problems: [] };
    return { value: only.text, problems: [{ expression: only.source.trim(), reason: read.reason }] };
  }
  const problems: Problem[] = [];
  const value = piecesOf(text)
    .map((piece) => (piece.source === undefined ? piece.text : toText(piece, names, problems)))
    .join('');
  return { value, problems };
}

interface Piece {
  text: string;
  /** The text between the braces. Undefined for text outside braces. */
  source: string | undefined;
}

/** Splits the text of an expression at its braces. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let cursor = 0;
  for (;;) {
    const open = text.indexOf('{{', cursor);
    const close = open < 0 ? -1 : text.indexOf('}}', open + 2);
    if (close < 0) break;
    if (open > cursor) pieces.push({ text: text.slice(cursor, open), source: undefined });
    pieces.push({ text: text.slice(open, close + 2), source: text.slice(open + 2, close) });
    cursor = close + 2;
  }
  if (cursor < text.length) pieces.push({ text: text.slice(cursor), source: undefined });
  return pieces;
}

/** Translates one pair of braces inside a text. */
function toText({ text, source = '' }: Piece, names: Names, problems: Problem[]): string {
  const read = readExpression(source, names);
  if ('reason' in read) problems.push({ expression: source.trim(), reason: read.reason });
  else if (typeof read.value === 'object' && read.value !== null) {
    problems.push({ expression: source.trim(), reason: 'it gives several values, which no text holds' });
  } else return asText(read.value);
  return text;
}

/** Writes a value into a text as n8n does. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Reports variables of this service in a literal: n8n treats them as text, but here they would be filled in. */
function translateLiteral(text: string): Translated {
  const problems = Array.from(findExpressions(text)).flatMap(({ expression, variable }) => {
    if (variable === undefined) return [];
    return { expression: expression.trim(), reason: 'it is plain text in n8n, and a variable here' };
  });
  return { value: text, problems };
}

const ITEM = String.raw`(?:item|first\(\)|last\(\))`;
const QUOTED = String.raw`(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|` + '`((?:[^`\\\\$]|\\\\.)*)`)';
const OWN = new RegExp(String.raw`^\$(?:json|input\.${ITEM}\.json)(?![\w$])`);
const NODE_BY_CALL = new RegExp(String.raw`^\$\(\s*${QUOTED}\s*\)\.${ITEM}\.json(?![\w$])`);
const NODE_BY_INDEX = new RegExp(String.raw`^\$node\[\s*${QUOTED}\s*\]\.(?:json|data)(?![\w$])`);
const NODE_BY_NAME = /^\$node\.([A-Za-z_][\w]*)\.(?:json|data)(?![\w$])/;
const LITERAL = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|true|false|null|"[^"\\]*"|'[^'\\]*')$/;
/** A longer expression does more than name data, so it is not matched with the patterns above. */
const MAX_EXPRESSION = 2000;

function readExpression(source: string, names: Names): Read {
  const text = source.trim();
  if (text.length > MAX_EXPRESSION) return { reason: 'it is too long' };
  if (LITERAL.test(text)) return readLiteral(text);
  if (text === '$workflow.name') return { value: names.title };
  if (text === '$execution.resumeUrl' || text === '$resumeWebhookUrl') {
    if (names.callbackUrl !== undefined) return { value: `{{ ${names.callbackUrl} }}` };
    return { reason: 'it is not certain which wait it belongs to' };
  }
  const own = OWN.exec(text);
  if (own !== null) return readFrom(names.json, text.slice(own[0].length));
  const call = NODE_BY_CALL.exec(text);
  if (call !== null) return readNode(quotedName(call), text.slice(call[0].length), names);
  const index = NODE_BY_INDEX.exec(text);
  if (index !== null) return readNode(quotedName(index), text.slice(index[0].length), names);
  const name = NODE_BY_NAME.exec(text);
  if (name !== null) return readNode(name[1]!, text.slice(name[0].length), names);
  return { reason: 'only names of data can be translated' };
}

function readLiteral(text: string): Read {
  const isQuoted = text.startsWith('"') || text.startsWith("'");
  const value: unknown = isQuoted ? text.slice(1, -1) : JSON.parse(text);
  return { value };
}

function quotedName(match: RegExpExecArray): string {
  return (match[1] ?? match[2] ?? match[3] ?? '').replace(/\\(.)/g, '$1');
}

function readNode(name: string, rest: string, names: Names): Read {
  const place = names.node(name);
  return typeof place === 'string' ? { reason: place } : readFrom(place, rest);
}

function readFrom(place: JsonPlace, rest: string): Read {
  const path = parsePath(rest);
  if (path === undefined) return { reason: 'only names of data can be translated' };
  if (place.items !== undefined) return { reason: 'it reads one of several items' };
  const value = templateAt(place, path);
  if (value === undefined) return { reason: place.gap ?? 'no variable can name it' };
  return { value };
}

const STEP = /^(?:\??\.([A-Za-z_$][\w$]*)(?!\s*\()|(?:\?\.)?\[\s*(?:(\d{1,9})|"([^"\\]*)"|'([^'\\]*)')\s*\])/;

/** Parses `.name`, `[0]`, `["name"]` and `['name']`, also in optional chains. Returns undefined for any other text. */
function parsePath(text: string): PathPart[] | undefined {
  const path: PathPart[] = [];
  let rest = text;
  while (rest !== '') {
    const step = STEP.exec(rest);
    if (step === null) return undefined;
    const [whole, dotted, digits, double, single] = step;
    path.push(digits === undefined ? (dotted ?? double ?? single ?? '') : Number(digits));
    rest = rest.slice(whole.length);
  }
  return path;
}

/**
 * Translates a parameter that contains JSON as text, with expressions in it. An expression inside quotes becomes part
 * of the quoted string; any other is a value of its own. Returns undefined if the text isn't JSON or cannot be stored.
 */
export function translateJsonText(parameter: unknown, names: Names): Translated | undefined {
  if (typeof parameter !== 'string') return { value: parameter, problems: [] };
  const stringified = stringifiedIn(parameter);
  if (stringified !== undefined) return translateParameter(`={{ ${stringified} }}`, names);
  const isExpression = parameter.startsWith('=');
  const text = isExpression ? parameter.slice(1) : parameter;
  const pieces = isExpression ? piecesOf(text) : [{ text, source: undefined }];
  if (pieces.length === 1 && pieces[0]!.source !== undefined) return translateParameter(parameter, names);
  const problems: Problem[] = [];
  let isInString = false;
  let json = '';
  for (const piece of pieces) {
    if (piece.source === undefined) {
      isInString = endsInString(piece.text, isInString);
      json += piece.text;
    } else if (isInString) json += JSON.stringify(toText(piece, names, problems)).slice(1, -1);
    else json += toJson(piece, names, problems);
  }
  const value = parseOrUndefined(json);
  if (value === undefined) return undefined;
  return { value, problems: [...problems, ...(isExpression ? [] : translateLiteral(text).problems)] };
}

/** Returns `VALUE` of a parameter that consists only of `={{ JSON.stringify(VALUE) }}`, undefined for any other. */
function stringifiedIn(parameter: string): string | undefined {
  const [only, ...others] = parameter.startsWith('=') ? piecesOf(parameter.slice(1).trim()) : [];
  const source = others.length === 0 ? (only?.source ?? '').trim() : '';
  return source.startsWith('JSON.stringify(') && source.endsWith(')') ? source.slice(15, -1) : undefined;
}

function toJson(piece: Piece, names: Names, problems: Problem[]): string {
  const source = stringifiedIn(`=${piece.text}`) ?? piece.source ?? '';
  const read = readExpression(source, names);
  if ('value' in read) return JSON.stringify(read.value);
  problems.push({ expression: (piece.source ?? '').trim(), reason: read.reason });
  return JSON.stringify(piece.text);
}

function endsInString(text: string, isInString: boolean): boolean {
  let inside = isInString;
  for (let at = 0; at < text.length; at += 1) {
    if (inside && text[at] === '\\') at += 1;
    else if (text[at] === '"') inside = !inside;
  }
  return inside;
}

export function parseOrUndefined(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return holdsUnstorableText(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

// JSON inside a text of the file was not checked when the file was read, so it is checked here, with lower limits.

const MAX_VALUES = 100_000;
const MAX_DEPTH = 100;

/** True if the database cannot store the value, or the service cannot read it because of its size or depth. */
export function holdsUnstorableText(value: unknown): boolean {
  if (holdsMoreThan(value, MAX_VALUES) || isDeeperThan(value, MAX_DEPTH)) return true;
  const keys: string[] = [];
  mapLeaves(
    value,
    (leaf) => leaf,
    (key) => (keys.push(key), key),
  );
  return [...leavesOf(value), ...keys].some((text) => typeof text === 'string' && !isStorable(text));
}

function isStorable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text);
}
