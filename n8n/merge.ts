// Translates Merge, and joins the links into a node.
import type { JsonObject } from '../graph/json.js';
import { placesOf, type Flow } from './flows.js';
import { numberOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import type { JsonPlace } from './json-places.js';

/** The first place of an input that has run counts. A list stands for several items. */
const READ_INPUTS = [
  'const inputsOfNode = inputs.inputs.map((places) => {',
  "  const place = places.find(({ ran }) => ran !== '');",
  '  if (place === undefined) return [];',
  '  return Array.isArray(place.json) ? place.json : [place.json];',
  '});',
].join('\n');
const ANSWER = 'return made.length === 1 ? made[0] : made;';

const BY_POSITION = [
  'const count = Math.min(...inputsOfNode.map((items) => items.length));',
  'const made = Array.from({ length: count }, (_, index) =>',
  '  Object.assign({}, ...inputsOfNode.map((items) => items[index])));',
];
const ALL_PAIRS = [
  'const made = inputsOfNode.reduce((rows, items) =>',
  '  rows.flatMap((row) => items.map((item) => ({ ...row, ...item }))), [{}]);',
];
const BY_FIELDS = [
  'const [left = [], right = []] = inputsOfNode;',
  "const read = (item, name) => name.split('.').reduce((value, step) => value?.[step], item);",
  'const isSame = (one, other) => inputs.fields.every(([mine, theirs]) =>',
  '  JSON.stringify(read(one, mine)) === JSON.stringify(read(other, theirs)));',
  'const made = left.flatMap((one) => {',
  '  const matching = right.filter((other) => isSame(one, other));',
  '  if (matching.length === 0) return inputs.keepsAll ? [one] : [];',
  '  return matching.map((other) => ({ ...one, ...other }));',
  '});',
];
const APPEND = ['const made = inputsOfNode.flat();'];

const MAX_INPUTS = 20;

export function translateMerge(at: NodeTranslation): TranslatedNode {
  const { flows } = at.around;
  const count = Math.max(flows.length, numberOf(at.parameters['numberInputs']) ?? 2);
  if (count > MAX_INPUTS) throw new NotTranslatable(`it has more than ${MAX_INPUTS} inputs`);
  const inputs = Array.from({ length: count }, (_, input) => toInput(at, placesOf(flows[input] ?? [])));
  const { code, more = {} } = codeOf(at, count);
  const id = at.add('code', { code: [READ_INPUTS, ...code, ANSWER].join('\n'), inputs: { inputs, ...more } });
  return oneWay(id, at.uncertain(at.resultPlace(id)));
}

interface Mode {
  code: readonly string[];
  more?: JsonObject;
}

/** Returns the mode by one name, for all versions of the node. */
function modeOf({ parameters, node: { version } }: NodeTranslation): string {
  const mode = textOf(parameters['mode']) ?? 'append';
  if (mode !== 'combine') return mode;
  const combined = version >= 3 ? parameters['combineBy'] : parameters['combinationMode'];
  return textOf(combined) ?? (version >= 3 ? 'combineByFields' : 'mergeByFields');
}

function codeOf(at: NodeTranslation, count: number): Mode {
  const mode = modeOf(at);
  const options = Object.keys((valueAt(at.parameters, 'options') as object | undefined) ?? {});
  switch (mode) {
    case 'append':
      return { code: APPEND };
    case 'mergeByPosition':
    case 'combineByPosition':
      return plain(options, { code: BY_POSITION });
    case 'multiplex':
    case 'combineAll':
      return plain(options, { code: ALL_PAIRS });
    case 'mergeByFields':
    case 'combineByFields':
      return plain(options, byFields(at));
    case 'chooseBranch':
    case 'passThrough':
    case 'wait':
      return chosen(at, count);
    default:
      throw new NotTranslatable(`its mode "${mode}" has no equivalent`);
  }
}

function plain(options: readonly string[], mode: Mode): Mode {
  if (options.length > 0)
    throw new NotTranslatable(`its options (${options.slice(0, 5).join(', ')}) have no equivalent`);
  return mode;
}

function byFields({ parameters }: NodeTranslation): Mode {
  const join = textOf(parameters['joinMode']) ?? 'keepMatches';
  if (join !== 'keepMatches' && join !== 'enrichInput1')
    throw new NotTranslatable(`its join "${join}" has no equivalent`);
  if ((parameters['outputDataFrom'] ?? 'both') !== 'both')
    throw new NotTranslatable('it puts out the items of one input only');
  const text = textOf(parameters['fieldsToMatchString']) ?? '';
  const pairs: unknown = valueAt(parameters, 'mergeByFields', 'values');
  const listed = Array.isArray(pairs)
    ? pairs.map((pair: unknown) => [valueAt(pair, 'field1'), valueAt(pair, 'field2')])
    : [];
  const fields = text === '' ? listed : text.split(',').map((name) => [name.trim(), name.trim()]);
  const isKnown = fields.every((pair) =>
    pair.every((name) => typeof name === 'string' && name !== '' && !name.startsWith('=')),
  );
  if (fields.length === 0 || !isKnown) throw new NotTranslatable('the fields that must match are not known');
  return { code: BY_FIELDS, more: { fields, keepsAll: join === 'enrichInput1' } };
}

function chosen({ parameters }: NodeTranslation, count: number): Mode {
  const input = parameters['useDataOfInput'] ?? parameters['output'] ?? 'input1';
  const text = typeof input === 'number' ? String(input) : (textOf(input) ?? '');
  const number = Number(/^(?:input)?(\d{1,2})$/.exec(text)?.[1] ?? Number.NaN);
  if (text === 'empty') return { code: ['const made = [{}];'] };
  if (!(number >= 1 && number <= count))
    throw new NotTranslatable(`it puts out "${text}", which is none of its inputs`);
  return { code: [`const made = inputsOfNode[${number - 1}];`] };
}

function toInput(at: NodeTranslation, places: readonly JsonPlace[]): JsonObject[] {
  return places.map((place) => ({ ran: `{{ ${place.ran} }}`, json: at.wholeOf(place) }));
}

/** Adds a node before another one to which several places lead. It outputs the data of the place that has run. */
export function addJunction(at: NodeTranslation, flows: readonly Flow[], note: string): TranslatedNode {
  const inputs = [toInput(at, placesOf(flows))];
  const id = at.add('code', { code: [READ_INPUTS, ...APPEND, ANSWER].join('\n'), inputs: { inputs } }, note);
  const place = at.resultPlace(id);
  const isOne = placesOf(flows).every(({ items }) => items === undefined);
  return oneWay(id, isOne ? place : { ...place, items: 'unknown' });
}
