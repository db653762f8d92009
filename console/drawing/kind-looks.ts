// Icon, colour and one-line summary of each kind of node. Kinds not in the table get a plain icon and their title as
// summary. The table affects the display only.
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { MAX_COMPARISONS, MAX_LISTS } from '../../graph/combined.js';
import { formatSeconds } from '../ui/time-units.js';
import { cutText } from '../../graph/cut-text.js';
import { replaceSpans } from '../../graph/template.js';

interface KindLooks {
  /** SVG path in a 24 by 24 box, drawn as a stroke. */
  icon: string;
  /** Hue of the colour in degrees; undefined for grey. */
  hue: number | undefined;
  /** Summarises a node from its data; may be empty. */
  line: (data: JsonObject) => string;
}

const PLAIN: KindLooks = { icon: 'M5 5h14v14H5z', hue: undefined, line: () => '' };

const LOOKS: Readonly<Record<string, KindLooks>> = {
  'trigger-node': { icon: 'M13 2 4 14h7l-1 8 9-12h-7z', hue: 150, line: inputLine },
  'http-node': {
    icon: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c4 4 4 14 0 18M12 3c-4 4-4 14 0 18',
    hue: 245,
    line: requestLine,
  },
  'basic-node': { icon: 'M4 5h16v11H10l-5 4v-4H4zM8 9h8M8 12h5', hue: 290, line: modelLine },
  'agent-node': { icon: 'M5 9h14v10H5zM12 9V4M9 13v2M15 13v2M2 13v3M22 13v3', hue: 315, line: agentLine },
  'mcp-node': {
    icon: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
    hue: 215,
    line: ({ tool_name: tool, endpoint_url: url }) => words(asText(tool), 'on', hostOf(url)),
  },
  'if-else-node': {
    icon: 'M12 3l9 9-9 9-9-9zM9 12h6',
    hue: 75,
    line: ({ condition }) => conditionSentence(condition),
  },
  'switch-node': { icon: 'M3 12h7l8-7M10 12h10M10 12l8 7', hue: 55, line: switchLine },
  'code-node': {
    icon: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
    hue: 265,
    line: ({ code }) => firstLine(code),
  },
  'set-node': { icon: 'M4 20h4L19 9l-4-4L4 16z', hue: 190, line: valueLine },
  'output-node': { icon: 'M4 12h12M11 7l5 5-5 5M20 4v16', hue: 165, line: valueLine },
  'for-each-node': {
    icon: 'M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01',
    hue: 20,
    line: ({ items }) => (isBlank(items) ? '' : `Each of ${toText(items)}`),
  },
  'loop-node': {
    icon: 'M17 2l4 4-4 4M21 6H8a5 5 0 0 0-5 5M7 22l-4-4 4-4M3 18h13a5 5 0 0 0 5-5',
    hue: 0,
    line: ({ until }) => (conditionSentence(until) === '' ? '' : `Until ${conditionSentence(until)}`),
  },
  'wait-node': { icon: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 3', hue: 95, line: waitLine },
  'workflow-node': {
    icon: 'M4 4h6v6H4zM14 14h6v6h-6zM7 10v4a3 3 0 0 0 3 3h4',
    hue: 275,
    line: ({ workflow_id: id }) => (typeof id === 'number' ? `Workflow ${id}` : ''),
  },
  'human-node': {
    icon: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c0-5 3.5-7 8-7s8 2 8 7',
    hue: 345,
    line: ({ message }) => firstLine(message),
  },
};

export function looksOf(type: string): KindLooks {
  return Object.hasOwn(LOOKS, type) ? LOOKS[type]! : PLAIN;
}

/** The maximum length of the line on a card, in characters. */
const MAX_LINE = 120;
/**
 * Only this many characters of a text are searched for variables, because each change of the drawing makes all lines
 * anew.
 */
const MAX_TEXT = 10_000;

/**
 * Returns a one-line summary of a node; may be empty. A variable of a node is shown by the node's label (`labelOfId`)
 * and the path that the variable reads.
 */
export function lineOf(type: string, data: JsonObject, labelOfId: (id: string) => string | undefined): string {
  const text = cutText(looksOf(type).line(data), MAX_TEXT);
  const line = replaceSpans(text, (expression) => named(expression.trim(), labelOfId));
  const [short] = line.trim().split('\n');
  return cutText(short ?? '', MAX_LINE);
}

/** Returns `Orders › total` for `id.result.total`, and `city` for `input.city`. */
function named(inside: string, labelOfId: (id: string) => string | undefined): string | undefined {
  if (inside.startsWith('input.')) return inside.slice('input.'.length);
  const [, id, of, rest = ''] = /^(.+?)\.(result|error|item|index|last|callback_url)\b(.*)$/.exec(inside) ?? [];
  const label = id === undefined || of === undefined ? undefined : labelOfId(id);
  if (label === undefined) return undefined;
  return [label, ...(of === 'result' ? [] : [of]), ...(rest === '' ? [] : [rest.replace(/^\./, '')])].join(' › ');
}

function inputLine({ input_fields: fields }: JsonObject): string {
  const titles = asArray(fields)
    .filter(isObject)
    .map(({ title, id }) => asText(title) || asText(id) || '')
    .filter((title) => title !== '');
  return titles.length === 0 ? 'Without input' : `Input: ${titles.join(', ')}`;
}

/** A save writes the method, server and path of an action into the node. Until then, only the action's id is known. */
function requestLine({ action, method, url }: JsonObject): string {
  if (!isObject(action)) return words(asText(method) ?? 'GET', hostOf(url));
  const { id, method: of, server, path } = action;
  const place = hostOf(server) + (asText(path) ?? '');
  return place === '' ? (asText(id) ?? '') : words(asText(of), place);
}

function modelLine({ settings }: JsonObject): string {
  return asText(asObject(settings)['model_name']) ?? '';
}

function agentLine(data: JsonObject): string {
  const tools = asArray(data['tools']).length;
  const model = modelLine(data);
  const counted = tools === 1 ? '1 tool' : `${tools} tools`;
  return model === '' ? '' : `${model} · ${counted}`;
}

function switchLine({ cases, mode }: JsonObject): string {
  const { length } = asArray(cases);
  return `${length === 1 ? '1 case' : `${length} cases`}, ${mode === 'all' ? 'all that hold' : 'the first that holds'}`;
}

function waitLine({ mode = 'duration', seconds, until }: JsonObject): string {
  if (mode === 'callback') return 'For a callback';
  const value = mode === 'until' ? until : seconds;
  if (isBlank(value)) return '';
  if (mode === 'until') return `Until ${toText(value)}`;
  return `For ${typeof value === 'number' ? formatSeconds(value) : `${toText(value)} s`}`;
}

function valueLine({ value }: JsonObject): string {
  return isBlank(value) ? '' : toText(value);
}

/** Words for operators. Operators not listed are shown with spaces for underscores. */
const OPERATORS: Readonly<Record<string, string>> = {
  '==': 'is',
  '!=': 'is not',
  '>': 'is more than',
  '>=': 'is at least',
  '<': 'is less than',
  '<=': 'is at most',
  in: 'is one of',
};

/**
 * Returns a condition as a sentence, such as `city is Oslo and (age is more than 17 or role is admin)`; empty if the
 * condition is empty.
 */
function conditionSentence(condition: unknown): string {
  return sentenceOf(condition, 0);
}

function sentenceOf(condition: unknown, lists: number): string {
  const { left, operator, right, all, any } = asObject(condition);
  const items = all ?? any;
  if (Array.isArray(items)) {
    if (lists === MAX_LISTS) return '';
    const parts = items
      .slice(0, MAX_COMPARISONS)
      .map((item) => sentenceOf(item, lists + 1))
      .filter((part) => part !== '');
    const text = parts.join(all === undefined ? ' or ' : ' and ');
    return lists === 0 || parts.length < 2 ? text : `(${text})`;
  }
  const sign = asText(operator) ?? '';
  if (isBlank(left) && isBlank(right)) return '';
  const word = Object.hasOwn(OPERATORS, sign) ? OPERATORS[sign] : sign.replaceAll('_', ' ');
  const hasRight = sign !== 'is_empty' && sign !== 'is_not_empty';
  return words(
    isBlank(left) ? 'nothing' : toText(left),
    word,
    hasRight && (isBlank(right) ? 'nothing' : toText(right)),
  );
}

/** Returns a URL without scheme, credentials, query, fragment and final slash. The URL may begin with a variable. */
function hostOf(url: unknown): string {
  const text = asText(url)?.trim() ?? '';
  return text
    .replace(/^https?:\/\/(?:[^/@\s]*@)?/, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '');
}

function firstLine(text: unknown): string {
  const lines = (asText(text) ?? '').split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '') ?? '';
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Joins the words with spaces. Returns an empty text if the last word is empty. */
function words(...parts: (string | false | undefined)[]): string {
  const last = parts.at(-1);
  const present = parts.filter((part) => part !== undefined && part !== false && part !== '');
  return last === '' ? '' : present.join(' ');
}
