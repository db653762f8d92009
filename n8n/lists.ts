// Translates nodes that process lists of items: Loop Over Items, Split Out, Aggregate, Limit, Sort, Remove Duplicates,
// Summarize and Item Lists.
import type { JsonObject } from '../graph/json.js';
import { addData, addList } from './data-node.js';
import { readBody } from './javascript.js';
import { loopOutputs } from './loops.js';
import { numberOf, objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { wholePlace } from './json-places.js';
import { AGGREGATING, BATCHES, LIMITING, SORTING, SPLITTING, SUMMARIZING, UNIQUE } from './runtime/lists.js';

const MAX_ITEMS = 10_000;

/** The output for the items leads into the body; the output for the end is the ordinary link. */
export function translateLoop(at: NodeTranslation): TranslatedNode {
  const { parameters, around } = at;
  if ((valueAt(parameters, 'options', 'reset') ?? false) !== false) throw new NotTranslatable('it can begin again');
  const size = parameters['batchSize'] ?? (at.node.version >= 3 ? 1 : 10);
  const isSingle = size === 1;
  if (!isSingle && !(typeof size === 'number' && Number.isInteger(size) && size > 1))
    throw new NotTranslatable('the size of its batches is no plain number');
  const returns = isSingle ? 'items' : `batches(items, ${numberOf(size)})`;
  const before = addData(at, { parts: [BATCHES], returns, failing: null, fills: false }, 'items');
  const id = at.add('for_each', { items: `{{ ${before}.result.value }}`, max_items: MAX_ITEMS, concurrency: 1 });
  at.link({ id: before, handle: null }, id);
  const { each, done } = loopOutputs(at.node);
  const outputs: TranslatedNode['outputs'] = [];
  outputs[each] = {
    sources: [{ id, handle: 'body' }],
    place: { ...wholePlace(`${id}.item`, `${id}.item`, around.order), ...(!isSingle && { items: 'several' as const }) },
  };
  outputs[done] = {
    sources: [{ id, handle: null }],
    place: { ...wholePlace(`${id}.result.items`, `${id}.result.content`, around.order), items: 'several' },
  };
  return { entry: before, main: id, outputs };
}

/** True if a name with dots is a path, false if the node reads it as the name of one field. */
function hasDots({ parameters }: NodeTranslation): boolean {
  return valueAt(parameters, 'options', 'disableDotNotation') !== true;
}

/**
 * Returns the names of fields as a text with commas or a list. In earlier versions, the file has them in a list of
 * objects.
 */
function names(value: unknown): unknown {
  const listed = objectsOf(valueAt(value, 'fields'));
  if (listed.length > 0) return listed.map((each) => each['fieldName'] ?? '');
  return typeof value === 'string' || Array.isArray(value) ? value : '';
}

export function translateSplitOut(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const how = {
    include: textOf(parameters['include']) ?? 'noOtherFields',
    hasDots: hasDots(at),
    isStrict: isStrict(at),
  };
  if (textOf(parameters['fieldToSplitOut'])?.includes('$binary') === true) throw new NotTranslatable('it splits files');
  return addList(at, {
    parts: [SPLITTING],
    parameters: {
      fields: parameters['fieldToSplitOut'] ?? '',
      targets: valueAt(parameters, 'options', 'destinationFieldName') ?? '',
      included: names(parameters['fieldsToInclude']),
    },
    returns: `splitOut(items, parametersOf, ${JSON.stringify(how)})`,
  });
}

export function translateAggregate(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const mode = textOf(parameters['aggregate']) ?? 'aggregateIndividualFields';
  if (mode === 'aggregateAllItemData') return aggregateItems(at);
  const options = objectOf(parameters['options']);
  const isDotted = hasDots(at);
  const fields = objectsOf(valueAt(parameters, 'fieldsToAggregate', 'fieldToAggregate')).flatMap((field) => {
    const name = textOf(field['fieldToAggregate']) ?? '';
    if (name.startsWith('=')) throw new NotTranslatable('the name of a field is an expression');
    const renamed = textOf(field['outputFieldName']) ?? '';
    const target = renamed === '' ? (isDotted ? name.split('.').at(-1) : name) : renamed;
    return name === '' ? [] : [{ field: name, target }];
  });
  if (fields.length === 0) throw new NotTranslatable('it names no fields');
  const how = {
    hasDots: isDotted,
    mergesLists: options['mergeLists'] === true,
    keepsMissing: options['keepMissing'] === true,
    isStrict: isStrict(at),
  };
  return addOne(
    at,
    AGGREGATING,
    { fields },
    `aggregateFields(items, { ...parametersOf(0), ...${JSON.stringify(how)} })`,
  );
}

function aggregateItems(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const include = textOf(parameters['include']) ?? 'allFields';
  return addOne(
    at,
    AGGREGATING,
    {
      target: parameters['destinationFieldName'] ?? 'data',
      excluded: include === 'allFieldsExcept' ? names(parameters['fieldsToExclude']) : '',
      included: include === 'specifiedFields' ? names(parameters['fieldsToInclude']) : '',
    },
    'aggregateItems(items, parametersOf(0))',
  );
}

/** Adds a node that computes its items from all incoming ones, and outputs none if none comes in. */
function addOne(at: NodeTranslation, part: string, parameters: JsonObject, returns: string): TranslatedNode {
  return addList(at, { parts: [part], parameters, returns: `items.length === 0 ? [] : ${returns}` });
}

export function translateLimit(at: NodeTranslation): TranslatedNode {
  const { maxItems = 1, keep = 'firstItems' } = at.parameters;
  return addList(at, {
    parts: [LIMITING],
    parameters: { most: maxItems },
    returns: `limited(items, parametersOf(0).most, ${keep === 'lastItems'})`,
  });
}

export function translateSort(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  const type = textOf(parameters['type']) ?? 'simple';
  if (type === 'random') return addList(at, { parts: [SORTING], returns: 'shuffled(items)' });
  if (type !== 'simple') return sortByCode(at);
  const fields = objectsOf(valueAt(parameters, 'sortFieldsUi', 'sortField')).map(({ fieldName, order }) => ({
    name: fieldName ?? '',
    direction: order === 'descending' ? -1 : 1,
  }));
  if (fields.length === 0) throw new NotTranslatable('it names no fields');
  return addList(at, {
    parts: [SORTING],
    parameters: { fields },
    returns: `items.length === 0 ? [] : sorted(items, { ...parametersOf(0), hasDots: ${hasDots(at)} })`,
  });
}

function sortByCode(at: NodeTranslation): TranslatedNode {
  const code = textOf(at.parameters['code']) ?? '';
  const read = readBody(`const a = {}, b = {};\n${code}`);
  if ('reason' in read) throw new NotTranslatable(`its code cannot run here: ${read.reason}`);
  if (read.names.size > 0) throw new NotTranslatable('its code reads data of n8n');
  const undeclared = [...read.undeclared];
  const order = `const order = (a, b) => { ${undeclared.length === 0 ? '' : `let ${undeclared.join(', ')};`}\n${code}\n};`;
  return addList(at, { parts: [SORTING, order], returns: 'sortedBy(items, order)' });
}

export function translateRemoveDuplicates(at: NodeTranslation): TranslatedNode {
  const operation = textOf(at.parameters['operation']) ?? 'removeDuplicateInputItems';
  if (operation !== 'removeDuplicateInputItems') throw new NotTranslatable('it remembers items of earlier runs');
  return removeDuplicates(at);
}

function removeDuplicates(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const compare = textOf(parameters['compare']) ?? 'allFields';
  const how = {
    compare,
    hasDots: hasDots(at),
    removesOthers: valueAt(parameters, 'options', 'removeOtherFields') === true,
    version: node.type === ITEM_LISTS && node.version < 3 ? 1 : Math.min(node.version, 1000),
    mayMix: node.type === ITEM_LISTS && node.version >= 3.1,
  };
  return addList(at, {
    parts: [UNIQUE],
    parameters: { excluded: names(parameters['fieldsToExclude']), compared: names(parameters['fieldsToCompare']) },
    returns: `items.length === 0 ? [] : unique(items, { ...parametersOf(0), ...${JSON.stringify(how)} })`,
  });
}

export function translateSummarize(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const options = objectOf(parameters['options']);
  const how = {
    isSingle: options['outputFormat'] === 'singleItem',
    skipsEmpty: options['skipEmptySplitFields'] === true,
    hasDots: hasDots(at),
    checksFields: node.version < 2.1,
    ignoresMissing: options['continueIfFieldNotFound'] === true,
  };
  const fields = objectsOf(valueAt(parameters, 'fieldsToSummarize', 'values'));
  if (!fields.some(({ field }) => typeof field === 'string' && field !== ''))
    throw new NotTranslatable('it names no fields');
  return addOne(
    at,
    SUMMARIZING,
    { fields, groups: parameters['fieldsToSplitBy'] ?? '' },
    `summarize(items, { ...parametersOf(0), ...${JSON.stringify(how)} })`,
  );
}

/** The first versions of Item Lists fail if the field is missing. */
function isStrict({ node }: NodeTranslation): boolean {
  return node.type === ITEM_LISTS && node.version < 2.1;
}

const ITEM_LISTS = 'n8n-nodes-base.itemLists';

/** Item Lists has the operations that later became nodes of their own. */
export function translateItemLists(at: NodeTranslation): TranslatedNode {
  const operation = textOf(at.parameters['operation']) ?? 'splitOutItems';
  switch (operation) {
    case 'splitOutItems':
      return translateSplitOut(at);
    case 'aggregateItems':
    case 'concatenateItems':
      return translateAggregate(at);
    case 'limit':
      return translateLimit(at);
    case 'removeDuplicates':
      return removeDuplicates(at);
    case 'sort':
      return translateSort(at);
    case 'summarize':
      return translateSummarize(at);
    default:
      throw new NotTranslatable(`its operation "${operation}" has no equivalent`);
  }
}
