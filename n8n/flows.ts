// The data that reaches a node: by which link, from which place, and after which decisions.
import { leavesOf } from '../graph/json.js';
import type { Source } from './draft.js';
import type { Loops } from './loops.js';
import { LOOP_TYPE, groupBy, itemsTypes, type N8nLink, type N8nNode } from './n8n-file.js';
import { keyOf, emptyPlace, type JsonPlace } from './json-places.js';

/** The ways out of each decision, by its name, that lead to a flow. Only the latest decisions are included. */
type Guards = ReadonlyMap<string, ReadonlySet<number>>;

export interface Flow {
  source: Source;
  place: JsonPlace;
  guards: Guards;
  /** True if a decision before this flow may leave the flow without items. */
  mayBeEmpty: boolean;
}

const MAX_GUARDS = 20;
/** The limit on compared flows. If there are more, they are assumed not to exclude each other. */
const MAX_COMPARED = 20;

/** Returns the decisions that all of `flows` have passed, each with every way that leads to one of the flows. */
export function mergeGuards(flows: readonly Flow[]): Guards {
  const [first, ...others] = flows;
  const merged = new Map<string, ReadonlySet<number>>();
  for (const [decision, ways] of first?.guards ?? []) {
    const all = others.map(({ guards }) => guards.get(decision));
    if (all.every((set) => set !== undefined)) merged.set(decision, new Set([ways, ...all].flatMap((set) => [...set])));
  }
  return merged;
}

export function withGuard(guards: Guards, decision: string, way: number): Guards {
  const latest = [...guards].slice(-MAX_GUARDS + 1);
  return new Map([...latest, [decision, new Set([way])]]);
}

/** True if at most one of the flows can bring data, as far as their guards tell. */
export function excludeEachOther(flows: readonly Flow[]): boolean {
  if (flows.length > MAX_COMPARED) return false;
  return flows.every((one, index) => flows.slice(index + 1).every((other) => isEither(one.guards, other.guards)));
}

function isEither(one: Guards, other: Guards): boolean {
  return [...one].some(([decision, ways]) => {
    const others = other.get(decision);
    return others !== undefined && [...ways].every((way) => !others.has(way));
  });
}

/** Returns the distinct places of the flows' data, latest first (by `order`). */
export function placesOf(flows: readonly Flow[]): JsonPlace[] {
  const places = new Map(flows.map(({ place }) => [keyOf(place), place]));
  return [...places.values()].toSorted((a, b) => b.order - a.order);
}

// Below: linking the nodes before and after an omitted node, so that the rest still runs.

/** Types that decide which nodes follow or if any does, or whose inputs differ in meaning. */
const NOT_CLOSABLE: ReadonlySet<string> = new Set([
  LOOP_TYPE,
  'n8n-nodes-base.if',
  'n8n-nodes-base.filter',
  'n8n-nodes-base.switch',
  'n8n-nodes-base.merge',
  'n8n-nodes-base.compareDatasets',
  'n8n-nodes-base.stopAndError',
  '@n8n/n8n-nodes-langchain.textClassifier',
  '@n8n/n8n-nodes-langchain.sentimentAnalysis',
]);

/**
 * True if the nodes before and behind the node can be linked: its type permits that, and the node has at most one input
 * and, besides the output for errors, at most one output.
 */
export function isClosable(node: N8nNode, inputs: readonly Flow[][], outgoing: readonly N8nLink[]): boolean {
  if (NOT_CLOSABLE.has(node.type)) return false;
  const errors = node.settings['onError'] === 'continueErrorOutput' ? 1 : 0;
  return inputs.length <= 1 && outgoing.every(({ output }) => output <= errors);
}

/**
 * Returns the distinct flows into the node's first input as flows that leave the node. Without `keepsData`, their data
 * cannot be read.
 */
export function closeOver(node: N8nNode, inputs: readonly Flow[][], keepsData: boolean): Flow[] {
  const gap = emptyPlace(`the node "${node.label}" was left out`, 0);
  const flows = new Map<string, Flow>();
  for (const flow of inputs[0] ?? []) {
    const { source } = flow;
    flows.set(JSON.stringify([source.id, source.handle]), keepsData ? flow : { ...flow, place: gap });
  }
  return [...flows.values()];
}

// Below: readers. A reader reads the incoming data, or passes the data on to a reader. If any node uses `$()`, each
// node that passes data on is a reader, because `$()` may name that node.

/** Types that read all incoming data, whatever their parameters are, besides those that run once for each item. */
const READING: ReadonlySet<string> = new Set([
  ...itemsTypes,
  'n8n-nodes-base.code',
  'n8n-nodes-base.functionItem',
  'n8n-nodes-base.noOp',
  'n8n-nodes-base.set',
  'n8n-nodes-base.if',
  'n8n-nodes-base.filter',
  'n8n-nodes-base.switch',
  'n8n-nodes-base.dateTime',
  'n8n-nodes-base.renameKeys',
  'n8n-nodes-base.html',
  'n8n-nodes-base.htmlExtract',
  'n8n-nodes-base.markdown',
  'n8n-nodes-base.xml',
  'n8n-nodes-base.crypto',
  'n8n-nodes-base.extractFromFile',
  'n8n-nodes-base.convertToFile',
  'n8n-nodes-base.readPDF',
]);
const PASSES_INPUT_ON: ReadonlySet<string> = new Set(['n8n-nodes-base.wait']);

/** `onceForEach` are types that run once for each item. */
export function findReaders({ inOrder, links }: Loops, onceForEach: ReadonlySet<string>): Set<N8nNode> {
  const outgoing = groupBy(links, ({ from }) => from);
  const isNamed = inOrder.some((node) => mentions(node, /\$\(|\$node/));
  const readers = new Set<N8nNode>();
  for (const node of inOrder.toReversed()) {
    const passesInputOn = PASSES_INPUT_ON.has(node.type) || node.isDisabled;
    const isReader =
      READING.has(node.type) ||
      onceForEach.has(node.type) ||
      mentions(node, /\$json|\$input/) ||
      (passesInputOn && (isNamed || (outgoing.get(node) ?? []).some(({ to }) => readers.has(to))));
    if (isReader) readers.add(node);
  }
  return readers;
}

function mentions({ parameters }: N8nNode, pattern: RegExp): boolean {
  return leavesOf(parameters).some((leaf) => typeof leaf === 'string' && pattern.test(leaf));
}
