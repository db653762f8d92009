// Answers polls. Results and all that is final come from Postgres; nodes in flight come from the run's workflow if it
// answers in time (docs/adr/0002-polls-read-postgres.md).
import { readResultPieces, type PolledRun, type PolledText } from '../../db/runs/poll-repository.js';
import { splitNodes } from '../../db/runs/polled-text.js';
import type { LiveNode } from '../../contract/run-workflow.js';
import type { AppDeps } from '../deps.js';
import { RawJson } from '../http/json-text.js';
import type { RouteResult } from '../http/route.js';
import { toExecutionStatus, toNodeMap } from './node-map.js';

/**
 * A run of which something was stored within this time is not queried: Postgres then shows where it is. A query costs
 * as much processor time as a node, so querying every busy run would slow all of them down.
 */
const ASK_WHEN_QUIET_MS = 1_000;

export async function answerPoll({ db, liveStatus }: AppDeps, run: PolledRun | PolledText): Promise<RouteResult> {
  const { runId, status: stored, isStarted } = run;
  const isOpen = stored === 'In Progress';
  const live = (isOpen && run.quietMs >= ASK_WHEN_QUIET_MS && (await liveStatus.nodesOf(runId))) || [];
  const status = toExecutionStatus(stored, isStarted || live.length > 0);
  const data = isOpen ? addLive(entriesOf(db, run), live) : nodesOf(db, run);
  return { status: 200, body: { status: 200, data: { id: runId, status, data } } };
}

/** Passes on the text that the database wrote, if there is one. */
function nodesOf(db: AppDeps['db'], run: PolledRun | PolledText): unknown {
  const { nodes, nodeErrors } = run;
  return typeof nodes === 'string' && nodeErrors === null ? new RawJson(nodes) : entriesOf(db, run);
}

function entriesOf(db: AppDeps['db'], { runId, nodeErrors, nodes }: PolledRun | PolledText): Record<string, unknown> {
  if (typeof nodes === 'string' && nodeErrors === null) {
    return Object.fromEntries(splitNodes(nodes).map(([id, entry]) => [id, new RawJson(entry)]));
  }
  return toNodeMap(Array.isArray(nodes) ? nodes : [], nodeErrors, (nodeId) =>
    readResultPieces(db, { runId, path: '', nodeId }),
  );
}

/**
 * Adds nodes in flight of which nothing is stored. Stored nodes take precedence, because the workflow's answer may be
 * older: a node that has ended stays ended, and an agent waits while Postgres has open requests of it.
 */
export function addLive(stored: Record<string, unknown>, live: LiveNode[]): Record<string, unknown> {
  const missing = live.filter(({ id, path }) => path === '' && !Object.hasOwn(stored, id));
  return { ...stored, ...Object.fromEntries(missing.map((node) => [node.id, toLiveEntry(node)])) };
}

export function toLiveEntry({ id, waiting }: LiveNode): Record<string, unknown> {
  const entry = { id, status: 'in progress' };
  if (waiting === undefined) return entry;
  return { ...entry, waiting: { for: waiting.for, until: new Date(waiting.untilMs).toISOString() } };
}
