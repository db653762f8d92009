// Writes parameters of n8n as JavaScript that computes them for an item: literals stay, expressions are evaluated in
// the sandbox.
import { isObject, type JsonObject } from '../graph/json.js';
import { piecesOf, type Names, type Problem } from './expressions.js';
import { OF_DATES, readExpression, type JavaScript } from './javascript.js';
import type { JsonPlace } from './json-places.js';

/** The part of a node's translation that finds the data which the node's parameters read. */
interface Reading {
  readonly names: Names;
  placeOf: (name: string) => JsonPlace;
  wholeOf: (place: JsonPlace) => unknown;
  /** Returns the reason why the JavaScript cannot read what it names, if there is one. */
  unreadable: (read: JavaScript) => string | undefined;
  warnOfExpression: (field: string, problem: Problem) => void;
}

export interface ParameterCode {
  source: string;
  /** The names that n8n defines and the code reads. Undefined if the code evaluates no expression. */
  names: ReadonlySet<string> | undefined;
  /** The inputs of the code node that the expressions need. */
  inputs: JsonObject;
}

/**
 * A parameter that holds JSON as text. Objects and lists that its expressions return are written into it as JSON. If
 * the whole parameter is one expression, a value that is not a text stays as it is.
 */
export class JsonText {
  readonly text: string;
  /** True if the code gets the parsed JSON instead of its text. */
  readonly isParsed: boolean;

  constructor(text: string, isParsed = false) {
    this.text = text;
    this.isParsed = isParsed;
  }
}

/** Returns true if every expression of the parameter can be evaluated in the sandbox. */
export function canBeComputed(at: Reading, parameter: string, own?: ReadonlySet<string>): boolean {
  return piecesOf(parameter.slice(1)).every(({ source }) => {
    if (source === undefined) return true;
    const read = readExpression(source, own);
    return !('reason' in read) && at.unreadable(read) === undefined;
  });
}

/** `own` are names that the code around the parameters defines. */
export function writeParameters(at: Reading, parameters: unknown, own?: ReadonlySet<string>): ParameterCode {
  const writer = new ParameterWriter(at, own);
  const source = writer.write(parameters, '');
  return { source, names: writer.hasExpressions ? writer.names : undefined, inputs: inputsFor(at, writer) };
}

export function needsDates(names: ReadonlySet<string>): boolean {
  return [...names].some((name) => OF_DATES.has(name));
}

/** Returns the inputs for JavaScript that reads these names and nodes. */
export function inputsFor(at: Reading, { names, nodes }: Pick<JavaScript, 'names' | 'nodes'>): JsonObject {
  const { callbackUrl, title } = at.names;
  const inputs: JsonObject = {};
  if (nodes.size > 0) {
    inputs['nodes'] = Object.fromEntries([...nodes].map((name) => [name, at.wholeOf(at.placeOf(name))]));
  }
  if (needsDates(names)) inputs['zone'] = at.names.zone;
  if (names.has('$workflow')) inputs['workflow'] = { name: title };
  if (names.has('$execution'))
    inputs['execution'] = { resumeUrl: callbackUrl === undefined ? '' : `{{ ${callbackUrl} }}` };
  return inputs;
}

class ParameterWriter {
  readonly names = new Set<string>();
  readonly nodes = new Set<string>();
  hasExpressions = false;
  readonly #at: Reading;
  readonly #own: ReadonlySet<string> | undefined;

  constructor(at: Reading, own: ReadonlySet<string> | undefined) {
    this.#at = at;
    this.#own = own;
  }

  write(value: unknown, field: string): string {
    if (value instanceof JsonText) {
      const text = value.text.startsWith('=')
        ? this.#expression(value.text.slice(1), field, 'joinJson')
        : JSON.stringify(value.text);
      return value.isParsed ? `asJson(${text})` : text;
    }
    if (typeof value === 'string')
      return value.startsWith('=') ? this.#expression(value.slice(1), field) : JSON.stringify(value);
    if (Array.isArray(value))
      return `[${value.map((each, index) => this.write(each, fieldOf(each, `${field}[${index}]`, field))).join(', ')}]`;
    if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
    const entries = Object.entries(value).map(([key, each]) => {
      return `[${JSON.stringify(key)}]: ${this.write(each, fieldIn(field, key))}`;
    });
    return `{ ${entries.join(', ')} }`;
  }

  #expression(text: string, field: string, join: 'join' | 'joinJson' = 'join'): string {
    const pieces = piecesOf(text);
    const parts = pieces.map((piece) => {
      return piece.source === undefined ? JSON.stringify(piece.text) : this.#evaluated(piece.source, piece.text, field);
    });
    if (pieces.every(({ source }) => source === undefined)) return JSON.stringify(text);
    if (parts.length === 1 && join === 'join') return parts[0]!;
    return `${join}(${parts.join(', ')})`;
  }

  #evaluated(source: string, text: string, field: string): string {
    const read = readExpression(source, this.#own);
    const reason = 'reason' in read ? read.reason : this.#at.unreadable(read);
    if ('reason' in read || reason !== undefined) {
      this.#at.warnOfExpression(field, { expression: source.trim(), reason: reason ?? '' });
      return JSON.stringify(text);
    }
    for (const name of read.names) this.names.add(name);
    for (const name of read.nodes) this.nodes.add(name);
    this.hasExpressions = true;
    return `evaluate(() => (${read.source}))`;
  }
}

/** Returns how a warning names an element of a list: by the element's own name, or else by its position. */
function fieldOf(element: unknown, place: string, list: string): string {
  const name = isObject(element) ? element['name'] : undefined;
  return typeof name === 'string' && name !== '' ? `${list}.${name}` : place;
}

/** Returns how a warning names a field inside another one. The key `value` is left out. */
function fieldIn(field: string, key: string): string {
  if (field === '') return key;
  return key === 'value' ? field : `${field}.${key}`;
}
