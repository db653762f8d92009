// Translates nodes that look at lists of items: Split Out, Loop Over Items, Aggregate, Limit and Item Lists.
import { fromEntries } from './draft.js';
import { loopOutputs } from './loops.js';
import { numberOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { wholePlace } from './json-places.js';

const MAX_ITEMS = 10_000;
const AS_ITEMS = 'const items = Array.isArray(inputs.json) ? inputs.json : [inputs.json];';

/**
 * An element that is an object becomes the item, unless a target field is named. Any other element is put into a field.
 */
const SPLIT_CODE = [
  AS_ITEMS,
  'const isObject = (value) => value !== null && typeof value === "object";',
  'const elementsOf = (value) => (value === undefined ? [] : isObject(value) ? Object.values(value) : [value]);',
  'return items.flatMap((item) => {',
  '  const list = inputs.path.reduce((value, step) => value?.[step], item);',
  '  return elementsOf(list).map((element) => inputs.target === "" && isObject(element)',
  '    ? { ...element } : { [inputs.target || inputs.field]: element });',
  '});',
].join('\n');
const NONE_SPLIT =
  'In n8n nothing behind this node runs where the list is empty. Here what follows runs once, with the list.';

export function translateSplitOut(at: NodeTranslation): TranslatedNode {
  return splitOut(at, valueAt(at.parameters, 'options', 'disableDotNotation') !== true);
}

/**
 * The following nodes become the body, executed for each element, if possible. Otherwise the list is output as one
 * value.
 */
function splitOut(at: NodeTranslation, hasDots: boolean): TranslatedNode {
  const { parameters } = at;
  const field = (textOf(parameters['fieldToSplitOut']) ?? '').trim().replace(/^\$json\./, '');
  const target = textOf(valueAt(parameters, 'options', 'destinationFieldName')) ?? '';
  const include = textOf(parameters['include']) ?? 'noOtherFields';
  if (field === '' || field.startsWith('=') || field.includes(','))
    throw new NotTranslatable('it splits other than one named field');
  if (include !== 'noOtherFields') throw new NotTranslatable('it keeps other fields beside the elements');
  const path = hasDots ? field.split('.') : [field];
  const data = { code: SPLIT_CODE, inputs: { json: at.wholeJson, path, field, target } };
  if (!at.around.isSplit) {
    const id = at.add('code', data);
    if (at.around.leadsOn) at.warn(NONE_SPLIT);
    return oneWay(id, { ...at.resultPlace(id), items: 'several' });
  }
  const before = at.add('code', data, 'items');
  const id = at.add('for_each', {
    items: `{{ ${before}.result.value }}`,
    max_items: MAX_ITEMS,
    concurrency: 1,
  });
  at.link({ id: before, handle: null }, id);
  const place = wholePlace(`${id}.item`, `${id}.item`, at.around.order);
  return { entry: before, main: id, outputs: [{ sources: [{ id, handle: 'body' }], place }] };
}

/** The output for the items leads into the body; the output for the end is the ordinary link. */
export function translateLoop(at: NodeTranslation): TranslatedNode {
  const { parameters, around } = at;
  if ((valueAt(parameters, 'options', 'reset') ?? false) !== false) throw new NotTranslatable('it can begin again');
  const size = parameters['batchSize'] ?? (at.node.version >= 3 ? 1 : 10);
  if (size !== 1)
    at.warn(`n8n takes ${numberOf(size) ?? 'several'} items at once. Here each item is a round of its own.`);
  const isList = at.json.items === 'several';
  const before = isList
    ? undefined
    : at.add('code', { code: `${AS_ITEMS}\nreturn items;`, inputs: { json: at.wholeJson } }, 'items');
  const items = before === undefined ? at.wholeJson : `{{ ${before}.result.value }}`;
  const id = at.add('for_each', { items, max_items: MAX_ITEMS, concurrency: 1 });
  if (before !== undefined) at.link({ id: before, handle: null }, id);
  const { each, done } = loopOutputs(at.node);
  const outputs: TranslatedNode['outputs'] = [];
  outputs[each] = {
    sources: [{ id, handle: 'body' }],
    place: wholePlace(`${id}.item`, `${id}.item`, around.order),
  };
  outputs[done] = {
    sources: [{ id, handle: null }],
    place: { ...wholePlace(`${id}.result.items`, `${id}.result.content`, around.order), items: 'several' },
  };
  return { entry: before ?? id, main: id, outputs };
}

const AGGREGATE_FIELDS = [
  AS_ITEMS,
  "const read = (item, name) => name.split('.').reduce((value, step) => value?.[step], item);",
  'return Object.fromEntries(inputs.fields.map(([name, target]) =>',
  '  [target, items.map((item) => read(item, name)).filter((value) => value !== undefined && value !== null)]));',
].join('\n');

export function translateAggregate(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  if (Object.keys((parameters['options'] as object | undefined) ?? {}).length > 0)
    throw new NotTranslatable('its options have no equivalent');
  const mode = textOf(parameters['aggregate']) ?? 'aggregateIndividualFields';
  if (mode === 'aggregateAllItemData') {
    if ((parameters['include'] ?? 'allFields') !== 'allFields')
      throw new NotTranslatable('it keeps some of the fields only');
    const target = textOf(parameters['destinationFieldName']) ?? 'data';
    return listNode(at, `${AS_ITEMS}\nreturn { [inputs.target]: items };`, { target });
  }
  const fields = objectsOf(valueAt(parameters, 'fieldsToAggregate', 'fieldToAggregate')).flatMap((field) => {
    const name = textOf(field['fieldToAggregate']) ?? '';
    const renamed = field['renameField'] === true ? textOf(field['outputFieldName']) : undefined;
    return name === '' || name.startsWith('=') ? [] : [[name, renamed ?? name.split('.').at(-1)!]];
  });
  if (fields.length === 0) throw new NotTranslatable('it names no fields');
  return listNode(at, AGGREGATE_FIELDS, { fields });
}

export function translateLimit(at: NodeTranslation): TranslatedNode {
  const { maxItems = 1, keep = 'firstItems' } = at.parameters;
  return limit(at, maxItems, keep === 'lastItems');
}

function limit(at: NodeTranslation, most: unknown, isFromEnd: boolean): TranslatedNode {
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1)
    throw new NotTranslatable('its limit is no plain number');
  const made = isFromEnd ? 'items.slice(-inputs.most)' : 'items.slice(0, inputs.most)';
  const limited = listNode(at, `${AS_ITEMS}\nconst made = ${made};\nreturn made.length === 1 ? made[0] : made;`, {
    most,
  });
  if (most === 1 || at.json.items === undefined) return limited;
  const [output] = limited.outputs;
  return oneWay(limited.entry, { ...output!.place, items: 'unknown' });
}

function listNode(at: NodeTranslation, code: string, inputs: Record<string, unknown>): TranslatedNode {
  const id = at.add('code', { code, inputs: fromEntries([['json', at.wholeJson], ...Object.entries(inputs)]) });
  return oneWay(id, at.resultPlace(id));
}

export function translateItemLists(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const operation = textOf(parameters['operation']) ?? 'splitOutItems';
  if (operation === 'limit') return limit(at, parameters['maxItems'] ?? 1, parameters['keep'] === 'lastItems');
  if (operation !== 'splitOutItems') throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  return splitOut(at, true);
}
