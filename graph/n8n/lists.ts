// Nodes that look at lists of items: Split Out, Loop Over Items, Aggregate, Limit and Item Lists.
import type { PathPart } from '../variable.js';
import { fromEntries } from './draft.js';
import { loopOutputs } from './loops.js';
import { numberOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { templateAt, wholePlace } from './places.js';

const MAX_ITEMS = 10_000;
const AS_ITEMS = 'const items = Array.isArray(inputs.json) ? inputs.json : [inputs.json];';

export function translateSplitOut(at: NodeTranslation): TranslatedNode {
  return splitOut(at, valueAt(at.parameters, 'options', 'disableDotNotation') !== true);
}

/** What follows is done for each element, where that can be its body; else the list is put out as one. */
function splitOut(at: NodeTranslation, hasDots: boolean): TranslatedNode {
  const { parameters } = at;
  const field = textOf(parameters['fieldToSplitOut']) ?? '';
  const target = textOf(valueAt(parameters, 'options', 'destinationFieldName'));
  const include = textOf(parameters['include']) ?? 'noOtherFields';
  if (field === '' || field.startsWith('=') || field.includes(','))
    throw new NotTranslatable('it splits other than one named field');
  if (include !== 'noOtherFields') throw new NotTranslatable('it keeps other fields beside the elements');
  const path: PathPart[] = hasDots ? field.split('.') : [field];
  const list = templateAt(at.json, path);
  if (typeof list !== 'string')
    throw new NotTranslatable(`its list cannot be read: ${at.json.gap ?? 'no variable names it'}`);
  const name = target === undefined || target === '' ? path.at(-1)! : target;
  if (!at.around.isSplit) {
    const id = at.add('set', { value: list });
    return oneWay(id, { ...at.resultPlace(id), isList: true });
  }
  const id = at.add('for_each', { items: list, max_items: MAX_ITEMS, concurrency: 1 });
  const item = `${id}.item`;
  const readings = [
    // An element that is no object stands in a field; any other one is the item itself.
    { path: [name], variable: item },
    { path: [], variable: item },
  ];
  return {
    entry: id,
    outputs: [{ sources: [{ id, handle: 'body' }], place: { readings, ran: item, order: at.around.order } }],
  };
}

/** The body is what the node leads to; its output for the end is the ordinary way. */
export function translateLoop(at: NodeTranslation): TranslatedNode {
  const { parameters, around } = at;
  if ((valueAt(parameters, 'options', 'reset') ?? false) !== false) throw new NotTranslatable('it can begin again');
  const size = parameters['batchSize'] ?? (at.node.version >= 3 ? 1 : 10);
  if (size !== 1)
    at.warn(`n8n takes ${numberOf(size) ?? 'several'} items at once. Here each item is a round of its own.`);
  const isList = at.json.isList === true;
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
    place: { ...wholePlace(`${id}.result.items`, `${id}.result.content`, around.order), isList: true },
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
  return listNode(at, `${AS_ITEMS}\nconst made = ${made};\nreturn made.length === 1 ? made[0] : made;`, { most });
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
