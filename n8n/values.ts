// Translates Edit Fields (Set), No Operation and Respond to Webhook.
import { isObject, type JsonObject } from '../graph/json.js';
import { objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { setAt } from './json-places.js';

/** Sets fields in the incoming items. A name with dots is a path. */
const MERGE_CODE = [
  'const list = Array.isArray(inputs.json) ? inputs.json : [inputs.json];',
  'const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);',
  'const made = list.map((json) => {',
  '  const kept = Object.entries(isObject(json) ? json : {}).filter(([name]) =>',
  '    inputs.keep === null ? !inputs.drop.includes(name) : inputs.keep.includes(name));',
  '  const result = structured(Object.fromEntries(kept));',
  '  for (const { path, value } of inputs.fields) {',
  '    let at = result;',
  '    for (const name of path.slice(0, -1)) at = isObject(at[name]) ? at[name] : (at[name] = {});',
  '    at[path.at(-1)] = value;',
  '  }',
  '  return result;',
  '});',
  'function structured(value) {',
  '  if (Array.isArray(value)) return value.map(structured);',
  '  if (!isObject(value)) return value;',
  '  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, structured(part)]));',
  '}',
  'return made.length === 1 ? made[0] : made;',
].join('\n');

interface Field {
  path: string[];
  value: unknown;
}

export function translateSet(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const isNew = node.version >= 3;
  if (isNew && parameters['mode'] === 'raw') return raw(at);
  const hasDots = valueAt(parameters, 'options', 'dotNotation') !== false;
  const named = isNew ? readFields(at) : readOldFields(at);
  if (isNew) warnOfTypes(at, named);
  const fields = named.map(({ name, value }) => ({
    path: hasDots ? pathOf(name) : [name],
    value,
  }));
  const kept = keptFields(at);
  at.warnOfItems();
  if (kept === undefined && at.json.items !== 'several') return addSet(at, nested(fields));
  const { keep, drop } = kept ?? { keep: [], drop: [] };
  return addCode(at, { json: at.wholeJson, keep, drop, fields });
}

function raw(at: NodeTranslation): TranslatedNode {
  at.warnOfItems();
  const value = at.jsonText(at.parameters['jsonOutput'], 'jsonOutput');
  if (value === undefined) throw new NotTranslatable('jsonOutput is no JSON that can be translated');
  const kept = keptFields(at);
  if (kept === undefined) return addSet(at, value);
  if (!isObject(value)) throw new NotTranslatable('its JSON is no object that the other fields could be added to');
  const fields = Object.entries(value).map(([name, part]) => ({ path: [name], value: part }));
  return addCode(at, { json: at.wholeJson, ...kept, fields });
}

function addSet(at: NodeTranslation, value: unknown): TranslatedNode {
  const id = at.add('set', { value });
  return oneWay(id, at.resultPlace(id));
}

function addCode(at: NodeTranslation, inputs: JsonObject): TranslatedNode {
  const id = at.add('code', { code: MERGE_CODE, inputs });
  return oneWay(id, at.asManyAsComeIn(at.resultPlace(id)));
}

/** Returns the fields of the incoming items that stay, or undefined if none do. */
function keptFields(at: NodeTranslation): { keep: string[] | null; drop: string[] } | undefined {
  const { parameters, node } = at;
  if (node.version < 3) return parameters['keepOnlySet'] === true ? undefined : { keep: null, drop: [] };
  const include = textOf(parameters['include']) ?? (node.version < 3.3 ? 'all' : undefined);
  if (node.version >= 3.3 && parameters['includeOtherFields'] !== true) return undefined;
  if (include === 'none') return undefined;
  if (include === 'selected') return { keep: namesIn(at, 'includeFields'), drop: [] };
  if (include === 'except') return { keep: null, drop: namesIn(at, 'excludeFields') };
  return { keep: null, drop: [] };
}

function namesIn(at: NodeTranslation, parameter: string): string[] {
  const text = textOf(at.parameters[parameter]) ?? '';
  if (text.startsWith('=')) throw new NotTranslatable(`its ${parameter} is an expression`);
  const names = text.split(',').flatMap((name) => name.trim() || []);
  if (names.some((name) => name.includes('.')))
    at.warn(`${parameter}: n8n reads a name with dots as a path. Here it is the name of one field.`);
  return names;
}

interface Named {
  name: string;
  value: unknown;
  type: string;
}

/** Warns that values keep their types here. Versions 1 and 2 of n8n's node convert nothing, so they need no warning. */
function warnOfTypes(at: NodeTranslation, fields: readonly Named[]): void {
  const kept = fields.filter(
    ({ value, type }) =>
      typeof value === 'string' && ONE_VARIABLE.test(value) && !(type === 'string' && TEXT_VARIABLE.test(value)),
  );
  if (kept.length === 0) return;
  const names = kept.map(({ name, type }) => `${name} (${type})`).join(', ');
  at.warn(`n8n converts values to the types of their fields. Here these keep the types that they have: ${names}.`);
}

function readFields(at: NodeTranslation): Named[] {
  const { parameters } = at;
  const assigned = objectsOf(valueAt(parameters, 'assignments', 'assignments'));
  const listed = objectsOf(valueAt(parameters, 'fields', 'values'));
  return [
    ...assigned.flatMap(({ name, value, type }) => toNamed(at, name, value, textOf(type) ?? 'string')),
    // Versions 3.0 to 3.2 store the value in a field named for its type.
    ...listed.flatMap(({ name, type = 'stringValue', ...values }) =>
      toNamed(at, name, values[textOf(type) ?? ''], (textOf(type) ?? '').replace(/Value$/, '')),
    ),
  ];
}

function toNamed(at: NodeTranslation, name: unknown, value: unknown, type: string): Named[] {
  const text = typeof name === 'string' ? name : '';
  if (text === '') return [];
  if (text.startsWith('=')) throw new NotTranslatable('the name of a field is an expression');
  return [{ name: text, value: typed(at, value, type, `fields.${text}`), type }];
}

const ONE_VARIABLE = /^\s*\{\{[^{}]*\}\}\s*$/;
const TEXT_VARIABLE = /\.result\.content \}\}$/;

/** Converts a literal to the type that the node names; a variable keeps the type of its value. */
function typed(at: NodeTranslation, value: unknown, type: string, field: string): unknown {
  if (value === null) return null;
  const isList = type === 'array' || type === 'object';
  const json = isList ? at.jsonText(value, field) : undefined;
  if (isList && json === undefined) at.warn(`${field}: its value is no JSON and was kept as text.`);
  const translated = json ?? at.value(value ?? '', field);
  if (typeof translated !== 'string') return type === 'string' ? JSON.stringify(translated) : translated;
  if (ONE_VARIABLE.test(translated)) return translated;
  if (type === 'number' && translated.trim() !== '' && Number.isFinite(Number(translated))) return Number(translated);
  if (type === 'boolean' && /^(?:true|false)$/i.test(translated)) return translated.toLowerCase() === 'true';
  if (type === 'number' || type === 'boolean') at.warn(`${field}: its value is no ${type} and was kept as text.`);
  return translated;
}

/** Reads the form of versions 1 and 2: `{string: [{name, value}], number: [...], boolean: [...]}`. */
function readOldFields(at: NodeTranslation): Named[] {
  return Object.entries(objectOf(at.parameters['values'])).flatMap(([type, fields]) =>
    objectsOf(fields).flatMap(({ name, value }) => toNamed(at, name, value, type)),
  );
}

/** n8n treats dots as steps of a path, but not brackets alone. */
function pathOf(name: string): string[] {
  const steps = name.split('.').filter((step) => step !== '');
  return steps.length === 0 ? [name] : steps;
}

function nested(fields: readonly Field[]): JsonObject {
  const made: JsonObject = {};
  for (const { path, value } of fields) setAt(made, path, value);
  return made;
}

export function translateNoOp(at: NodeTranslation): TranslatedNode {
  const id = at.add('set', { value: at.wholeJson });
  return oneWay(id, at.json);
}

export function translateResponse(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const kind = textOf(parameters['respondWith']) ?? 'firstIncomingItem';
  if (kind !== 'allIncomingItems') at.warnOfItems();
  const values: Record<string, () => unknown> = {
    firstIncomingItem: () => at.wholeJson,
    allIncomingItems: () => at.wholeJson,
    text: () => at.text(parameters['responseBody'], 'responseBody'),
    json: () =>
      at.jsonText(parameters['responseBody'], 'responseBody') ?? at.text(parameters['responseBody'], 'responseBody'),
    noData: () => '',
  };
  if (!Object.hasOwn(values, kind)) throw new NotTranslatable(`an answer of the kind "${kind}" has no equivalent`);
  const options = Object.keys(objectOf(parameters['options']));
  if (options.length > 0)
    at.warn(`The status and the headers of the answer (${options.slice(0, 5).join(', ')}) were left out.`);
  const id = at.add('output', { value: values[kind]!() });
  return oneWay(id, at.json);
}
