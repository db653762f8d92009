// The console's words for the status of each node of a drawing, and the states of its links.
import type { RunLink, RunLinks } from '../drawing/run-links.js';
import { hasEnded, type LiveRun, type NodeEntry } from './live-run.js';

/** `not run`: the run did not reach the node, or can no longer reach it. */
export type StatusWord = 'in queue' | 'in progress' | 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'not run';

/** `isWaiting`: the node waits although its entry does not say so, for example for approvals. */
export function wordOf(entry: NodeEntry, isWaiting = false): StatusWord {
  if (entry.status === 'failed') return entry.error?.code === 'cancelled' ? 'cancelled' : 'failed';
  if (entry.status === 'in progress') return isWaiting || entry.waiting !== undefined ? 'waiting' : 'in progress';
  return OTHERS[entry.status];
}

const OTHERS = { 'in queue': 'in queue', succeed: 'succeeded', 'not found': 'not run' } as const;

/**
 * Returns the word of an entry, plus `, handled` if the run survived the node's failure, and `, reused` if the result
 * is that of an earlier run.
 */
export function statusOf(entry: NodeEntry, isWaiting = false): string {
  const word = wordOf(entry, isWaiting);
  const handled = word === 'failed' && entry.handled === true ? ', handled' : '';
  return `${word}${handled}${entry.reused === true ? ', reused' : ''}`;
}

/**
 * Returns the text that a node of the graph shows for its status. The text differs from the status if the node has not
 * started.
 */
export function writtenStatus(status: string): string {
  return UNREACHED[status] ?? status;
}

const UNREACHED: Readonly<Record<string, string>> = { 'in queue': 'not reached yet', 'not run': 'not reached' };

/**
 * Returns the status of each node of the drawing. A node inside a loop gets the combined status of its iterations. A
 * node without an entry is `in queue` while the run may still reach it, else `not run`.
 */
export function statusesOf(links: RunLinks, live: LiveRun): ReadonlyMap<string, string> {
  const statuses = new Map<string, string>();
  const dead = new Set<string>();
  const isOver = hasEnded(live);
  const inside = foundInLoops(live);
  for (const id of links.order) {
    const entry = live.nodes.get(id);
    const known = entry === undefined ? inside.get(id)?.status : statusOf(entry, live.pending.has(id));
    if (known !== undefined) {
      statuses.set(id, known);
      continue;
    }
    const incoming = links.incoming.get(id) ?? [];
    const isReachable = id === links.start || incoming.some((link) => isOpen(link, live, dead));
    if (isOver || !isReachable) dead.add(id);
    statuses.set(id, dead.has(id) ? 'not run' : 'in queue');
  }
  return statuses;
}

/** Combined status of several iterations: the first of this list that any of them has. */
const IN_ORDER: readonly string[] = [
  'waiting',
  'in progress',
  'failed',
  'failed, reused',
  'failed, handled',
  'failed, handled, reused',
  'cancelled',
  'succeeded',
  'succeeded, reused',
];

interface Found {
  entry: NodeEntry;
  status: string;
}

/** Returns the combined status of each node inside loops, with the first entry that has it. */
export function foundInLoops({ nodes, pending }: LiveRun): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  for (const [key, entry] of nodes) {
    if (entry.path === undefined || entry.path === '') continue;
    const status = statusOf(entry, pending.has(key));
    const known = found.get(entry.id);
    const isFirst = known === undefined || IN_ORDER.indexOf(status) < IN_ORDER.indexOf(known.status);
    if (isFirst) found.set(entry.id, { entry, status });
  }
  return found;
}

function isOpen({ from, handle }: { from: string; handle: string }, live: LiveRun, dead: ReadonlySet<string>): boolean {
  if (dead.has(from)) return false;
  const entry = live.nodes.get(from);
  if (entry?.status === 'failed') return entry.handled === true && ['', 'error', 'timeout'].includes(handle);
  if (entry?.status !== 'succeed' || handle === '') return true;
  return handle !== 'error' && isChosen(entry.result, handle);
}

/**
 * `followed`: the run followed the link. `flowing`: the link's target is in progress or waits. `open`: the run may
 * still follow the link. `skipped`: the run never will.
 */
export type LinkState = 'followed' | 'flowing' | 'open' | 'skipped';

export function linkState(link: RunLink, live: LiveRun, statuses: ReadonlyMap<string, string>): LinkState {
  const [from, to] = [statuses.get(link.from), statuses.get(link.to)];
  if (to === undefined || to === 'not run' || from === 'not run') return 'skipped';
  // The result of a loop does not name the link into its body. A node in the body has a result for each iteration and
  // none of its own, so `isOpen` says nothing about its links. The state of all these links depends on their targets.
  if (link.handle !== 'body' && !isOpen(link, live, NONE)) return 'skipped';
  if (to === 'in queue' || from === 'in queue') return hasEnded(live) ? 'skipped' : 'open';
  return !hasEnded(live) && (to === 'in progress' || to === 'waiting') ? 'flowing' : 'followed';
}

const NONE: ReadonlySet<string> = new Set();

/** The result of a branching node names the chosen handles: as `content`, or in the list `cases`. */
function isChosen(result: unknown, handle: string): boolean {
  const { content, cases } = (result ?? {}) as { content?: unknown; cases?: unknown };
  return Array.isArray(cases)
    ? cases.includes(handle) || (cases.length === 0 && handle === 'default')
    : content === handle;
}
