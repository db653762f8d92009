// Translates Code, Function and Function Item: JavaScript that uses nothing of n8n except the items.
import type { JsonObject } from '../graph/json.js';
import { fromEntries } from './draft.js';
import { textOf } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';

/** Defines n8n's names for code from `inputs`. A list stands for several items. */
const ITEMS = [
  'const asItems = (json) => (Array.isArray(json) ? json : [json]).map((each) => ({ json: each }));',
  'const view = (list) => ({ all: () => list, first: () => list[0], last: () => list.at(-1), item: list[0], json: list[0]?.json });',
  'const items = asItems(inputs.json);',
];
const OTHER_NODES = [
  'const $ = (name) => view(asItems(inputs.nodes[name]));',
  'const $node = new Proxy({}, { get: (_, name) => $(name) });',
];
const ANSWER = [
  "const unwrapped = (item) => (item !== null && typeof item === 'object' && 'json' in item ? item.json : item);",
  'const made = (Array.isArray(returned) ? returned : [returned]).map(unwrapped);',
  'return made.length === 1 ? made[0] : made;',
];

/** Names that plain JavaScript doesn't have, or that the sandbox doesn't provide. */
const FOREIGN =
  /(?<![\w$.])(?:require|DateTime|Duration|Luxon|luxon|fetch|axios|Buffer|process|setTimeout|setInterval|setImmediate|URL|URLSearchParams|TextEncoder|TextDecoder|crypto|atob|btoa|Intl|getWorkflowStaticData|getNodeParameter|structuredClone|this|import)(?![\w$])|\.binary\b/;
const DOLLAR = /\$(?:[A-Za-z_]\w*)?/g;
const KNOWN_DOLLARS = new Set(['$', '$json', '$input', '$node', '$itemIndex']);
const NODE_NAMES = /\$(?:\(|node\[)\s*"(\d+)"\s*[)\]]/g;
const MAX_CODE = 200_000;
const MAX_NAMES = 100;

export function translateCode(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const language = textOf(parameters['language']) ?? 'javaScript';
  if (language !== 'javaScript') throw new NotTranslatable(`its language is ${language}`);
  return translate(
    at,
    textOf(parameters['jsCode']) ?? '',
    parameters['mode'] === 'runOnceForEachItem' ? 'each' : 'all',
  );
}

export function translateFunction(at: NodeTranslation): TranslatedNode {
  return translate(at, textOf(at.parameters['functionCode']) ?? '', 'all');
}

export function translateFunctionItem(at: NodeTranslation): TranslatedNode {
  return translate(at, textOf(at.parameters['functionCode']) ?? '', 'item');
}

type Mode = 'all' | 'each' | 'item';

function translate(at: NodeTranslation, code: string, mode: Mode): TranslatedNode {
  if (code.trim() === '') throw new NotTranslatable('it has no code');
  if (code.length > MAX_CODE) throw new NotTranslatable('its code is too long');
  const { bare, strings } = splitStrings(code);
  const foreign = FOREIGN.exec(bare)?.[0];
  if (foreign !== undefined) throw new NotTranslatable(`its code uses "${foreign}", which is not there in code nodes`);
  for (const [name] of bare.matchAll(DOLLAR)) {
    if (!KNOWN_DOLLARS.has(name)) throw new NotTranslatable(`its code uses "${name}", which only n8n has`);
  }
  const names = namesIn(bare, strings);
  const inputs: JsonObject = {
    json: at.wholeJson,
    ...(names.length > 0 && { nodes: fromEntries(names.map((name) => [name, jsonOf(at, name)])) }),
  };
  const lines = [...ITEMS, ...(names.length > 0 ? OTHER_NODES : []), ...body(code, mode), ...ANSWER];
  const id = at.add('code', { code: lines.join('\n'), inputs, settings: { timeout: 30 } });
  const place = at.resultPlace(id);
  return oneWay(id, mode === 'all' ? at.uncertain(place) : at.asManyAsComeIn(place));
}

function body(code: string, mode: Mode): string[] {
  if (mode === 'all') {
    return [
      'const $input = view(items);',
      'const $json = items[0]?.json;',
      'const returned = await (async () => {',
      code,
      '})();',
    ];
  }
  const own = mode === 'item' ? 'item' : '$json';
  return [
    `const once = async (${own}, current, $itemIndex) => {`,
    ...(mode === 'item' ? [] : ['const $input = { item: current };', 'const item = current;']),
    code,
    '};',
    'const returned = [];',
    'for (const [index, current] of items.entries()) returned.push(await once(current.json, current, index));',
  ];
}

/** Returns the nodes that the code names. Every use of `$(` and `$node` must name its node in plain text. */
function namesIn(bare: string, strings: readonly string[]): string[] {
  const found = [...bare.matchAll(NODE_NAMES)].map(([, index]) => strings[Number(index)] ?? '');
  const uses = [...bare.matchAll(/\$(?=\()|\$node\b/g)].length;
  if (uses > found.length || found.length > MAX_NAMES) {
    throw new NotTranslatable('its code names nodes in a way that is known only when it runs');
  }
  return [...new Set(found.map((name) => name.replace(/\\(.)/g, '$1')))];
}

function jsonOf(at: NodeTranslation, name: string): unknown {
  const place = at.names.node(name);
  if (typeof place === 'string') throw new NotTranslatable(`its code reads data that is not there: ${place}`);
  return at.wholeOf(place);
}

// Below: an approximate search for JavaScript strings. A regular expression with a quote can hide the rest of its line.

interface SplitCode {
  /** The code without comments; `"0"`, `"1"` and so on replace its strings. */
  bare: string;
  strings: string[];
}

/** Reads the code once, from left to right. Template literals stay, because they contain code. */
function splitStrings(code: string): SplitCode {
  const strings: string[] = [];
  const bare: string[] = [];
  let from = 0;
  for (let at = 0; at < code.length;) {
    const end = endOfText(code, at);
    if (end === at) {
      at += 1;
      continue;
    }
    bare.push(code.slice(from, at));
    if (code[at] === '/') bare.push(' ');
    else bare.push(`"${strings.push(code.slice(at + 1, end - 1)) - 1}"`);
    at = from = end;
  }
  bare.push(code.slice(from));
  return { bare: bare.join(''), strings };
}

/** Returns the end of the string or comment that starts at `at`, or `at` itself if none starts there. */
function endOfText(code: string, at: number): number {
  const quote = code[at];
  if (quote === '"' || quote === "'") {
    let end = at + 1;
    while (end < code.length && code[end] !== quote && code[end] !== '\n') end += code[end] === '\\' ? 2 : 1;
    return Math.min(end + 1, code.length);
  }
  if (code.startsWith('//', at)) return orEnd(code, code.indexOf('\n', at));
  if (code.startsWith('/*', at)) {
    const close = code.indexOf('*/', at + 2);
    return close < 0 ? code.length : close + 2;
  }
  return at;
}

function orEnd(code: string, index: number): number {
  return index < 0 ? code.length : index;
}
