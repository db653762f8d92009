// Answers polls from Postgres. Nodes in flight that are not stored yet come from the run's workflow, if it answers in
// time (docs/adr/0002-polls-read-postgres.md).
import { createHash } from 'node:crypto';
import { PIECE_BYTES } from '../../db/core/text-pieces.js';
import { readOutputPieces } from '../../db/nodes/run-output.js';
import { findStoredNodes, type PolledRun } from '../../db/runs/poll-repository.js';
import type { PolledState } from '../../db/runs/polled-run.js';
import type { LiveNode } from '../../contract/run-workflow.js';
import { createWaitView } from '../waits/wait-view.js';
import type { RunDeps } from './deps.js';
import { toETag } from '../http/conditional.js';
import { ApiError } from '../http/errors.js';
import { lazyText, RawJson } from '../http/json-text.js';
import type { RouteResult } from '../http/route.js';
import { readApartFrom } from './apart-results.js';
import { toExecutionStatus, toNodeMap } from './node-map.js';

/**
 * A run whose stored state changed within this time is not queried, because Postgres then shows its present state. A
 * query costs as much processor time as a node, so querying every busy run would slow all of them down.
 */
const ASK_WHEN_QUIET_MS = 1_000;
const LIVE_TAG_CHARACTERS = 16;

export interface PollAnswer extends RouteResult {
  etag: string;
}

export async function answerPoll(deps: RunDeps, run: PolledRun | undefined, runId: string): Promise<PollAnswer> {
  const { db } = deps;
  if (run !== undefined) refuseInvisible(run);
  if (run === undefined || run.isExpired) return answerNotFound(runId);
  const { status: stored, isStarted, version } = run;
  const live = await liveNodesOf(deps, run);
  const status = toExecutionStatus(stored, isStarted);
  const ids = new Set(run.nodes.map(({ id }) => id));
  const etag = toETag(run.stateTag, toLiveTag(missingFrom(ids, live)));
  const data = addLive(entriesOf(deps, run), live);
  return toAnswer(etag, { id: run.runId, status, data, version, output: outputOf(db, run) });
}

/**
 * Returns the entity tag of the answer that a poll would get, without reading the results of the run. Returns undefined
 * if the answer would be an error, or have the status `not found`.
 */
export async function tagPoll(deps: RunDeps, run: PolledState | undefined): Promise<string | undefined> {
  if (run === undefined || !run.isVisible || run.isExpired) return undefined;
  const live = (await liveNodesOf(deps, run)).filter(isOutsideLoops);
  if (live.length === 0) return toETag(run.stateTag, '');
  const stored = await findStoredNodes(
    deps.db,
    run.runId,
    live.map(({ id }) => id),
  );
  return toETag(run.stateTag, toLiveTag(missingFrom(stored, live)));
}

/**
 * A run is not queried before its start is stored, because the answer would report nodes `in progress` in a run that is
 * still `in queue`.
 */
async function liveNodesOf({ liveStatus }: RunDeps, run: PolledState): Promise<LiveNode[]> {
  if (!run.isStarted || run.status !== 'In Progress' || run.quietMs < ASK_WHEN_QUIET_MS) return [];
  return (await liveStatus.nodesOf(run.runId)) ?? [];
}

/** Polls answer 200 with the status `not found` for an unknown run and for one whose results have expired. */
export function answerNotFound(runId: string): PollAnswer {
  return toAnswer(toETag('0', ''), { id: runId, status: 'not found', data: null });
}

export function refuseInvisible({ isVisible }: { isVisible: boolean }): void {
  if (!isVisible) throw new ApiError(400, 'invalid', 'The run does not exist or you have no access to it.');
}

function toAnswer(etag: string, data: Record<string, unknown>): PollAnswer {
  return { etag, status: 200, headers: { ETag: etag }, body: { status: 200, data } };
}

/** Returns undefined while there is no output, so that the answer has no such key. */
function outputOf(db: RunDeps['db'], { runId, output }: PolledRun): unknown {
  if (output === undefined) return undefined;
  return output.text === null ? lazyText(() => readOutputPieces(db, runId), PIECE_BYTES) : new RawJson(output.text);
}

function entriesOf(deps: RunDeps, { runId, role, nodeErrors, nodes }: PolledRun): Record<string, unknown> {
  const readApart = readApartFrom(deps.db, { runId, path: '' }, nodes);
  return toNodeMap(nodes, nodeErrors, { readApart, waits: createWaitView(deps, role) });
}

/**
 * Adds nodes in flight outside loops that have no stored entry. Stored nodes take precedence, because the workflow's
 * answer may be older: a node that has ended stays ended, and an agent waits while Postgres has open requests of it.
 */
export function addLive(stored: Record<string, unknown>, live: LiveNode[]): Record<string, unknown> {
  const missing = missingFrom({ has: (id) => Object.hasOwn(stored, id) }, live);
  return { ...stored, ...Object.fromEntries(missing.map((node) => [node.id, toLiveEntry(node)])) };
}

function missingFrom(stored: { has(id: string): boolean }, live: LiveNode[]): LiveNode[] {
  return live.filter((node) => isOutsideLoops(node) && !stored.has(node.id));
}

function isOutsideLoops({ path }: LiveNode): boolean {
  return path === '';
}

/**
 * The part of the entity tag for nodes in flight that are not stored, because no version counts them. Empty without
 * such nodes.
 */
function toLiveTag(missing: LiveNode[]): string {
  if (missing.length === 0) return '';
  const text = JSON.stringify(missing.map(({ id }) => id).toSorted());
  return createHash('sha256').update(text).digest('base64url').slice(0, LIVE_TAG_CHARACTERS);
}

/**
 * Shows a node in flight as `in progress`, even if it waits. A wait is stored before the workflow learns of it, so one
 * without a stored row began after Postgres was read, and the ids that readers need to end it are unknown here.
 */
export function toLiveEntry({ id }: LiveNode): Record<string, unknown> {
  return { id, status: 'in progress', started_at: null, finished_at: null };
}
