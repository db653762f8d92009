// The state of a run while it runs, and how news change it. A change leaves the entry of every other node the same
// object, so that only the parts of the page that show this node render again.
import type { NodeResult, RunEvent, RunStatus } from '../../clients/typescript/src/index.js';
import { isEqualJson, isObject } from '../ui/json.js';

/**
 * A node's entry, as the poll has it. `reused` and `handled` are described in the extensions "Going on, going back" and
 * "What every node may say".
 */
export type NodeEntry = NodeResult & {
  path?: string;
  reused?: boolean;
  /** Where a result of a test was taken from: `mock`, `pin` or the id of a run. */
  source?: string;
  /** Whether the pin was taken although the node, or something before it, has changed since. */
  stale?: boolean;
  handled?: boolean;
  /** The counts of a loop. */
  iterations?: { total: number; succeeded: number; failed: number; in_progress: number };
};

export interface LiveRun {
  status: RunStatus;
  /** The version of the last event, after which a stream goes on; before the first event that of the first poll. */
  version: number | undefined;
  /** The nodes that have begun, by `nodeKey`. */
  nodes: ReadonlyMap<string, NodeEntry>;
  /** Keys of `nodes` in the order in which the nodes have begun. It depends on what is known alone, and not on when it came. */
  order: readonly string[];
  /** The places of the drawing's nodes, by their ids: which comes first of nodes that began in one millisecond. */
  places: ReadonlyMap<string, number>;
  /** The ids of the approval requests that nobody has decided, by `nodeKey`. */
  pending: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly string[] = [];

/** Neither paths nor ids hold control characters. */
const BETWEEN = '\u001F';

/** Returns the key of a node in an iteration, or the node's id alone outside loops. */
export function nodeKey(id: string, path = ''): string {
  return path === '' ? id : `${path}${BETWEEN}${id}`;
}

export function parseNodeKey(key: string): { nodeId: string; path: string } {
  const [first = '', second] = key.split(BETWEEN);
  return second === undefined ? { nodeId: first, path: '' } : { nodeId: second, path: first };
}

/** Returns the last moment that the run's nodes name, in milliseconds since 1970. The service's clock may be ahead. */
export function latestMs({ nodes }: LiveRun): number {
  let latest = 0;
  for (const entry of nodes.values()) {
    const at = entry.finished_at ?? entry.started_at;
    if (typeof at === 'string') latest = Math.max(latest, Date.parse(at));
  }
  return latest;
}

export function hasEnded({ status }: Pick<LiveRun, 'status'>): boolean {
  return status === 'succeed' || status === 'failed';
}

/** `inOrder` names the drawing's nodes, each behind those that lead to it. */
export function startLiveRun(
  status: RunStatus,
  nodes: Readonly<Record<string, NodeEntry>>,
  inOrder: readonly string[] = NONE,
): LiveRun {
  const places = new Map(inOrder.map((id, place) => [id, place]));
  const empty: LiveRun = { status, version: undefined, nodes: new Map(), order: NONE, places, pending: new Map() };
  return applyState(empty, { status, version: undefined, nodes });
}

/** Returns the run after events, in their order. */
export function applyEvents(live: LiveRun, events: readonly RunEvent[]): LiveRun {
  if (events.length === 0) return live;
  const nodes = new Map(live.nodes);
  const pending = new Map(live.pending);
  let { status, version } = live;
  const { places } = live;
  for (const event of events) {
    version = event.version;
    if (event.type === 'run') status = event.status;
    else if (event.type === 'node') setEntry(nodes, pending, event.node);
    else if (event.type === 'approval') setRequest(pending, event.approval);
  }
  return { status, version, nodes, places, pending, order: orderOf(live, nodes) };
}

type PolledRun = Pick<LiveRun, 'status' | 'version'> & { nodes: Readonly<Record<string, NodeEntry>> };

/** Returns the run after events and polls, in the order in which they have come. */
export function applyNews(live: LiveRun, news: readonly (RunEvent | PolledRun)[]): LiveRun {
  let [after, events]: [LiveRun, RunEvent[]] = [live, []];
  for (const item of news) {
    if ('type' in item) events.push(item);
    else [after, events] = [applyState(applyEvents(after, events), item), []];
  }
  return applyEvents(after, events);
}

/**
 * Returns the run as a poll shows it. A poll may be older than an event, so a node that has ended stays ended. Where the poll
 * does not say that it is as new as the last event, it tells only of nodes that are not known and of nodes that have ended.
 */
export function applyState(live: LiveRun, polled: PolledRun): LiveRun {
  const isOlder = live.version !== undefined && (polled.version === undefined || polled.version < live.version);
  const nodes = new Map(live.nodes);
  const pending = new Map(live.pending);
  for (const entry of Object.values(polled.nodes)) {
    const key = nodeKey(entry.id, entry.path);
    if (isOlder && nodes.has(key) && entry.status === 'in progress') continue;
    setEntry(nodes, pending, entry);
    const requests = entry.status === 'in progress' ? (entry.approval_requests ?? []) : [];
    setOrDelete(pending, key, requests.filter(isPending).map(idOf));
  }
  const status = hasEnded(live) || (isOlder && !hasEnded(polled)) ? live.status : polled.status;
  const version = live.version ?? polled.version;
  return { status, version, nodes, places: live.places, pending, order: orderOf(live, nodes) };
}

function setEntry(nodes: Map<string, NodeEntry>, pending: Map<string, readonly string[]>, entry: NodeEntry): void {
  const key = nodeKey(entry.id, entry.path);
  const known = nodes.get(key);
  const isOver = entry.status === 'succeed' || entry.status === 'failed';
  if (isOver) pending.delete(key);
  else if (known !== undefined && (known.status === 'succeed' || known.status === 'failed')) return;
  if (known === undefined || !isSame(known, entry)) nodes.set(key, entry);
}

/** The contents of a node that has ended never change, and may be large. */
function isSame(known: NodeEntry, entry: NodeEntry): boolean {
  if (known.status !== entry.status || known.finished_at !== entry.finished_at) return false;
  return entry.status === 'succeed' || entry.status === 'failed' || isEqualJson(known, entry);
}

function setRequest(pending: Map<string, readonly string[]>, request: Record<string, unknown>): void {
  const { node_id: nodeId, path } = request;
  const key = nodeKey(String(nodeId), typeof path === 'string' ? path : '');
  const others = (pending.get(key) ?? NONE).filter((id) => id !== idOf(request));
  setOrDelete(pending, key, isPending(request) ? [...others, idOf(request)] : others);
}

function setOrDelete(pending: Map<string, readonly string[]>, key: string, ids: readonly string[]): void {
  if (ids.length === 0) pending.delete(key);
  else pending.set(key, ids);
}

function orderOf(before: LiveRun, nodes: ReadonlyMap<string, NodeEntry>): readonly string[] {
  if (
    before.nodes.size === nodes.size &&
    before.order.every((key) => startOf(before.nodes, key) === startOf(nodes, key))
  ) {
    return before.order;
  }
  const { places } = before;
  const known = [...nodes.keys()].map((key) => {
    const { nodeId, path } = parseNodeKey(key);
    const place = places.get(nodeId) ?? places.size;
    // Nodes that a loop executes come behind the loop, one iteration after the other.
    const outer = path === '' ? place : (places.get(path.slice(0, path.indexOf('['))) ?? places.size);
    return { key, start: startOf(nodes, key), outer, path, place };
  });
  const sorted = known.toSorted((a, b) => {
    if (a.start !== b.start) return a.start < b.start ? -1 : 1;
    return a.outer - b.outer || IN_NUMBERS.compare(a.path, b.path) || a.place - b.place;
  });
  return sorted.map(({ key }) => key);
}

const IN_NUMBERS = new Intl.Collator('en', { numeric: true });

/** Nodes that have not begun come last. */
function startOf(nodes: ReadonlyMap<string, NodeEntry>, key: string): string {
  return nodes.get(key)?.started_at ?? '~';
}

function isPending(request: unknown): boolean {
  return isObject(request) && request['status'] === 'pending';
}

function idOf(request: unknown): string {
  return isObject(request) ? String(request['request_id']) : '';
}
