// State of a live run, and how events and polls change it. An update retains the entry objects of unaffected nodes, so
// that only the components that show a changed node render again.
import type { NodeResult, RunEvent, RunStatus } from '../../clients/typescript/src/index.js';
import { decodeId } from '../../graph/iteration-path.js';
import { isEqualJson, isObject } from '../../graph/json.js';

/** A node's entry in polls, events and runs. See docs/use/resume.md for `reused`, docs/use/nodes.md for `handled`. */
export type NodeEntry = NodeResult & {
  path?: string;
  reused?: boolean;
  /** Source of a fixed result in a test run: `mock`, `pin` or the id of a run. */
  source?: string;
  /** True if the pin was used although the node or one before it has changed since. */
  stale?: boolean;
  handled?: boolean;
  /** Iteration counts of a loop. */
  iterations?: { total: number; succeeded: number; failed: number; in_progress: number };
};

export interface LiveRun {
  status: RunStatus;
  /** Version of the last event, from which a stream resumes. Before the first event: the version of the first poll. */
  version: number | undefined;
  /** Started nodes by `nodeKey`. Their waits for approvals are in `pending` only. */
  nodes: ReadonlyMap<string, NodeEntry>;
  /** Keys of `nodes` in order of their start. The order depends on the known entries only, not on when they arrived. */
  order: readonly string[];
  /** Position of each node in the drawing's order, by id. Breaks ties between nodes that started in one millisecond. */
  places: ReadonlyMap<string, number>;
  /** Ids of undecided approval requests by `nodeKey`. */
  pending: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly string[] = [];

/** Separator: neither paths nor ids contain control characters. */
const BETWEEN = '\u001F';

/** Returns the key of a node in an iteration, or its id outside loops. */
export function nodeKey(id: string, path = ''): string {
  return path === '' ? id : `${path}${BETWEEN}${id}`;
}

export function parseNodeKey(key: string): { nodeId: string; path: string } {
  const [first = '', second] = key.split(BETWEEN);
  return second === undefined ? { nodeId: first, path: '' } : { nodeId: second, path: first };
}

/**
 * Returns the time of the latest start or end of any node, in milliseconds since 1970; 0 if there is none. This time
 * may be in the future for the browser, whose clock may be behind the service's.
 */
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

/** `inOrder` lists the ids of the drawing's nodes in topological order. */
export function startLiveRun(
  status: RunStatus,
  nodes: Readonly<Record<string, NodeEntry>>,
  inOrder: readonly string[] = NONE,
): LiveRun {
  const places = new Map(inOrder.map((id, place) => [id, place]));
  const empty: LiveRun = { status, version: undefined, nodes: new Map(), order: NONE, places, pending: new Map() };
  return applyState(empty, { status, version: undefined, nodes });
}

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

/** Applies events and polls in the order of their arrival. */
export function applyNews(live: LiveRun, news: readonly (RunEvent | PolledRun)[]): LiveRun {
  let [after, events]: [LiveRun, RunEvent[]] = [live, []];
  for (const item of news) {
    if ('type' in item) events.push(item);
    else [after, events] = [applyState(applyEvents(after, events), item), []];
  }
  return applyEvents(after, events);
}

/**
 * Applies a poll, which may be older than the last event. A node that has ended therefore stays ended. Unless the
 * poll's version is at least that of the last event, the poll only adds unknown nodes, nodes that have ended, and the
 * end of the run.
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

function setEntry(nodes: Map<string, NodeEntry>, pending: Map<string, readonly string[]>, given: NodeEntry): void {
  const entry = withoutApproval(given);
  const key = nodeKey(entry.id, entry.path);
  const known = nodes.get(key);
  const isOver = entry.status === 'succeed' || entry.status === 'failed';
  if (isOver) pending.delete(key);
  else if (known !== undefined && (known.status === 'succeed' || known.status === 'failed')) return;
  if (known === undefined || !isSame(known, entry)) nodes.set(key, entry);
}

/**
 * Removes a wait for approvals, because no event of the node reports the end of this wait. The events of the requests
 * change `pending` instead.
 */
function withoutApproval(entry: NodeEntry): NodeEntry {
  if (entry.waiting?.for !== 'approval') return entry;
  const { waiting: _pending, ...others } = entry;
  return others;
}

/** Entries of ended nodes are immutable and may be large, so they are not compared. */
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
    // Among nodes that started at the same time, those inside a loop sort after the loop, iteration by iteration.
    const outer = path === '' ? place : (places.get(decodeId(path.slice(0, path.indexOf('[')))) ?? places.size);
    return { key, start: startOf(nodes, key), outer, path, place };
  });
  const sorted = known.toSorted((a, b) => {
    if (a.start !== b.start) return a.start < b.start ? -1 : 1;
    return a.outer - b.outer || IN_NUMBERS.compare(a.path, b.path) || a.place - b.place;
  });
  return sorted.map(({ key }) => key);
}

const IN_NUMBERS = new Intl.Collator('en', { numeric: true });

/** Sorts nodes without a start time last. */
function startOf(nodes: ReadonlyMap<string, NodeEntry>, key: string): string {
  return nodes.get(key)?.started_at ?? '~';
}

function isPending(request: unknown): boolean {
  return isObject(request) && request['status'] === 'pending';
}

function idOf(request: unknown): string {
  return isObject(request) ? String(request['request_id']) : '';
}
