// Translates Merge and Compare Datasets, and joins the data of several links into a node.
import type { JsonObject } from '../graph/json.js';
import { addData, addList, addOutputs, listPlace } from './data-node.js';
import { excludeEachOther, placesOf, type Flow } from './flows.js';
import { groupBy, numberOf, objectsOf, objectOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import type { Source } from './draft.js';
import { keyOf } from './json-places.js';
import { COMPARING, MATCHING, MERGING } from './runtime/merging.js';

/** The items of each input: those of all its places from which a link has brought data. */
const READ_INPUTS = String.raw`
const hasCome = ({ ran, taken, ways }) => ran !== '' && (ways === undefined || [taken].flat().some((way) => ways.includes(way)));
const lists = inputs.inputs.map((places) => places.flatMap(({ links, json }) => (links.some(hasCome) ? itemsOf(json) : [])));
`;

const MAX_INPUTS = 20;

export function translateMerge(at: NodeTranslation): TranslatedNode {
  const { flows } = at.around;
  const count = Math.max(flows.length, numberOf(at.parameters['numberInputs']) ?? 2);
  if (count > MAX_INPUTS) throw new NotTranslatable(`it has more than ${MAX_INPUTS} inputs`);
  warnOfForcedInputs(at);
  return addList(at, {
    parts: [MATCHING, MERGING, READ_INPUTS],
    parameters: howToMerge(at, count),
    returns: 'merge(lists, parametersOf(0))',
    failing: 'lists[0]',
    inputs: { json: null, inputs: inputsOf(at, count) },
  });
}

/**
 * Warns about inputs that may get no data: in the old order of execution, and before version 2.1 of the node, n8n
 * executes the nodes before such an input all the same, with an empty item.
 */
function warnOfForcedInputs(at: NodeTranslation): void {
  const mayBeEmpty = at.around.flows.some((flows) => flows.some((flow) => flow.mayBeEmpty));
  if (at.node.version >= 2.1 || at.around.isNewOrder || !mayBeEmpty) return;
  at.warn('For an input without data, n8n executes the nodes before it all the same. Here they are not executed.');
}

function inputsOf(at: NodeTranslation, count: number): JsonObject[][] {
  return Array.from({ length: count }, (_, input) => toInput(at, at.around.flows[input] ?? []));
}

/** Returns the mode. For `combine`, this is the way of combining, which is in another parameter before version 3. */
function modeOf({ parameters, node: { version } }: NodeTranslation): string {
  const mode = textOf(parameters['mode']) ?? 'append';
  if (mode !== 'combine') return mode;
  const combined = version >= 3 ? parameters['combineBy'] : parameters['combinationMode'];
  return textOf(combined) ?? (version >= 3 ? 'combineByFields' : 'mergeByFields');
}

function howToMerge(at: NodeTranslation, count: number): JsonObject {
  const { parameters, node } = at;
  const mode = modeOf(at);
  const version = Math.min(node.version, 1000);
  const options = objectOf(parameters['options']);
  const clash = objectOf(valueAt(options, 'clashHandling', 'values'));
  switch (mode) {
    case 'append':
      return { mode };
    case 'mergeByPosition':
    case 'combineByPosition':
      return { mode: 'byPosition', clash, version, includeUnpaired: options['includeUnpaired'] === true };
    case 'multiplex':
    case 'combineAll':
      return { mode: 'allPairs', clash };
    case 'mergeByFields':
    case 'combineByFields':
      return { mode: 'byFields', ...byFields(at), clash, version };
    case 'chooseBranch':
    case 'passThrough':
    case 'wait':
      return { mode: 'chosen', input: chosenInput(at, count) };
    default:
      throw new NotTranslatable(`its mode "${mode}" has no equivalent`);
  }
}

function byFields({ parameters, node: { version } }: NodeTranslation): JsonObject {
  const text = textOf(parameters['fieldsToMatchString']) ?? '';
  const isAdvanced = version < 3 || parameters['advanced'] === true;
  const named = text.split(',').flatMap((name) => name.trim() || []);
  return {
    pairs: isAdvanced ? pairsOf(parameters) : named.map((name) => ({ field1: name, field2: name })),
    joinMode: textOf(parameters['joinMode']) ?? 'keepMatches',
    from: textOf(parameters['outputDataFrom']) ?? 'both',
    ...howToMatch(parameters),
  };
}

function pairsOf(parameters: JsonObject): JsonObject[] {
  const pairs = objectsOf(valueAt(parameters, 'mergeByFields', 'values'));
  if (
    pairs.some(
      ({ field1, field2 }) =>
        typeof field1 !== 'string' || typeof field2 !== 'string' || field1 === '' || field2 === '',
    )
  )
    throw new NotTranslatable('the fields that must match are not known');
  if (pairs.length === 0) throw new NotTranslatable('the fields that must match are not known');
  return pairs.map(({ field1, field2 }) => ({ field1, field2 }));
}

function howToMatch(parameters: JsonObject): JsonObject {
  const options = objectOf(parameters['options']);
  return {
    hasDots: options['disableDotNotation'] !== true,
    isLoose: options['fuzzyCompare'] === true,
    isFirst: options['multipleMatches'] === 'first',
  };
}

/** Returns the number of the input whose items are the output, or null if an empty item is the output. */
function chosenInput({ parameters }: NodeTranslation, count: number): number | null {
  const input = parameters['useDataOfInput'] ?? parameters['output'] ?? 'input1';
  const text = typeof input === 'number' ? String(input) : (textOf(input) ?? '');
  if (text === 'empty' || parameters['output'] === 'empty') return null;
  const number = Number(/^(?:input)?(\d{1,2})$/.exec(text)?.[1] ?? Number.NaN);
  if (number >= 1 && number <= count) return number - 1;
  throw new NotTranslatable(`it puts out "${text}", which is none of its inputs`);
}

/** The node has four outputs: the items only in A, the same in both, different, and only in B. */
export function translateCompareDatasets(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const version = Math.min(node.version, 1000);
  const options = objectOf(parameters['options']);
  const how = {
    pairs: pairsOf(parameters),
    ...howToMatch(parameters),
    isFirst: options['multipleMatches'] !== 'all',
    isLoose: (version >= 2 ? parameters['fuzzyCompare'] : options['fuzzyCompare']) === true,
    version,
    resolve: textOf(parameters['resolve']) ?? (version <= 2 ? 'preferInput2' : 'includeBoth'),
    prefer: textOf(parameters['preferWhenMix']) ?? 'input1',
    except: parameters['exceptWhenMix'] ?? '',
    skipped: (textOf(options['skipFields']) ?? '').split(',').flatMap((name) => name.trim() || []),
  };
  const outputs = 4;
  return addOutputs(at, outputs, {
    parts: [MATCHING, COMPARING, READ_INPUTS],
    parameters: how,
    returns: 'compare(lists[0], lists[1], parametersOf(0))',
    failing: '[lists[0], [], [], []]',
    inputs: { json: null, inputs: inputsOf(at, 2) },
  });
}

function toInput(at: NodeTranslation, flows: readonly Flow[]): JsonObject[] {
  const byPlace = groupBy(flows, ({ place }) => keyOf(place));
  return placesOf(flows)
    .toReversed()
    .map((place) => ({ links: linksOf(byPlace.get(keyOf(place)) ?? []), json: at.wholeOf(place) }));
}

/**
 * Returns how to tell of each link whether it has brought data. For a link that leaves a drawn decision, this also
 * depends on the way that was taken, because the data is that of the node before the decision.
 */
function linksOf(flows: readonly Flow[]): JsonObject[] {
  const links = flows.map(({ source, place }) => ({ ran: `{{ ${place.ran} }}`, ...wayOf(source) }));
  return [...new Map(links.map((link) => [JSON.stringify(link), link])).values()];
}

function wayOf({ id, handle }: Source): JsonObject {
  if (handle === 'condition-true' || handle === 'condition-false')
    return { taken: `{{ ${id}.result.content }}`, ways: [handle.slice('condition-'.length)] };
  if (handle?.startsWith('case-') === true) return { taken: `{{ ${id}.result.cases }}`, ways: [handle] };
  // The content of a switch that takes all cases is an empty list if no case holds.
  return handle === 'default' ? { taken: `{{ ${id}.result.content }}`, ways: ['default', '[]'] } : {};
}

/** Adds a code node that joins the data of flows with the same target: the items of all places that have run. */
export function addJunction(at: NodeTranslation, flows: readonly Flow[], note: string): TranslatedNode {
  const isOne = placesOf(flows).every(({ items }) => items === undefined) && excludeEachOther(flows);
  const id = addData(
    at,
    {
      parts: [READ_INPUTS],
      returns: isOne ? 'lists[0][0] ?? null' : 'lists[0]',
      failing: null,
      fills: false,
      inputs: { json: null, inputs: [toInput(at, flows)] },
    },
    note,
  );
  return oneWay(id, isOne ? at.resultPlace(id) : listPlace(at, id));
}
