// Streams the answer to a tool call, or to a request for the result of a task, as server-sent events. The state of the
// stream is in the ids of its events, so that a disconnected client can continue at any process (ADR 24).
import { Readable } from 'node:stream';
import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { findSnapshotOf } from '../../db/runs/tool-runs-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import type { McpServerDeps } from './deps.js';
import { COMMENT, EVENT_STREAM_HEADERS } from '../http/event-stream.js';
import type { RouteResult } from '../http/route.js';
import { failure, readCallResult, stillRunning } from './call-result.js';
import { followCall, type FollowedCall } from './follow-call.js';
import { idSchema, toResponse, type RequestId } from './messages.js';
import { labelsOf, type NodeLabels } from './node-labels.js';

/** A stream that sends nothing for this time is cut off, because the caller reads nothing or the source has stopped. */
const STALLED_MS = 60_000;
interface CallTimes {
  /**
   * After this time, which begins anew when a client reconnects, a call is answered even if its run has not ended; the
   * run continues. A request for the result of a task (`isTask`) waits for the end of the run.
   */
  maxMs: number;
  /**
   * The interval of comments, because proxies close silent connections. Before each comment, the caller's right to run
   * is checked.
   */
  aliveEveryMs: number;
}

const TIMES: CallTimes = { maxMs: 3_600_000, aliveEveryMs: 15_000 };
/** A disconnected client is asked to reconnect after this time, if its version accepts a first event. */
const RETRY_MS = 2_000;
const SLICE_BYTES = 128 * 1024;

export type CallDeps = Pick<McpServerDeps, 'db' | 'memory' | 'runHub' | 'sharedReads'>;

/**
 * A tool call whose run was accepted, or a request for the result of a run. The ids of events contain these fields, so
 * that a client returns them when it reconnects. The run is then found by `ofRun`, or else by the session and
 * `requestId`.
 */
interface OpenCall {
  requestId: RequestId;
  /** The run that the client has named; absent if the call has started it. */
  ofRun?: string | undefined;
  isTask?: boolean | undefined;
  /** Absent if the client does not want progress. */
  progressToken: RequestId | undefined;
  /** The number of ended nodes that progress messages have reported so far. */
  reported: number;
}

interface StreamedCall extends OpenCall, Omit<FollowedCall, 'withNodes' | 'aliveEveryMs'> {
  /**
   * True from protocol version 2025-11-25 on: the client accepts a first event without data, after whose id it can
   * resume.
   */
  takesFirstEvent: boolean;
}

export function streamCall(deps: CallDeps, call: StreamedCall, times = TIMES): RouteResult {
  const cut = (): void => void body.destroy();
  const body = Readable.from(framesOf(deps, call, times, cut), { objectMode: false, highWaterMark: 1 });
  return { status: 200, headers: EVENT_STREAM_HEADERS, body, stalledMs: STALLED_MS };
}

async function* framesOf(
  deps: CallDeps,
  call: StreamedCall,
  { maxMs, aliveEveryMs }: CallTimes,
  cut: () => void,
): AsyncGenerator<string | Buffer> {
  const { requestId, runId, progressToken } = call;
  const untilMs = performance.now() + maxMs;
  yield call.takesFirstEvent ? `retry: ${RETRY_MS}\n${frameOf(call, '')}` : COMMENT;
  const progress = progressToken === undefined ? undefined : await createProgress(deps, call, progressToken);
  for await (const news of followCall(deps, { ...call, withNodes: progress !== undefined, aliveEveryMs })) {
    if (news.kind === 'node') yield* progress?.frames(news.nodeId) ?? [];
    else if (news.kind === 'lost') {
      yield frameOf(call, toResponse(requestId, failure('You may not run this workflow any more.', runId)));
    } else if (news.kind === 'ended') yield* resultFrames(deps, call, cut);
    else if (call.isTask === true || performance.now() < untilMs) yield COMMENT;
    else {
      yield frameOf(call, toResponse(requestId, stillRunning(runId)));
      return;
    }
  }
}

/**
 * Hands the result to the connection in slices, each after the client has taken the one before. The lease covers the
 * result until the last slice. While the client takes none, others who wait for memory may cut the stream off; the
 * client may resume after the last event that it has received.
 */
async function* resultFrames(deps: CallDeps, call: StreamedCall, cut: () => void): AsyncGenerator<Buffer> {
  const lease = deps.memory.lease(`user:${call.reader.userId}`, call.signal);
  try {
    const result = await readCallResult(deps, call.runId, lease);
    const related = call.isTask === true ? { [RELATED_TASK_META_KEY]: { taskId: call.runId } } : {};
    const answered = { ...result, _meta: { ...(result['_meta'] as JsonObject), ...related } };
    const bytes = Buffer.from(frameOf(call, toResponse(call.requestId, answered)));
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      const endLoan = lease.lend(cut);
      yield bytes.subarray(at, at + SLICE_BYTES);
      endLoan();
    }
  } finally {
    lease.end();
  }
}

/** Progress rises from message to message, also after a reconnection: nodes that were reported before are skipped. */
async function createProgress({ db }: CallDeps, call: StreamedCall, progressToken: RequestId) {
  const hash = await findSnapshotOf(db, call.runId);
  const labels = async (): Promise<NodeLabels> => (hash === undefined ? new Map() : labelsOf(db, hash));
  const { size: total } = await labels();
  let ended = 0;
  return {
    async *frames(nodeId: string): AsyncGenerator<string> {
      ended += 1;
      if (ended <= call.reported) return;
      const params = { progressToken, progress: ended, total, message: (await labels()).get(nodeId) ?? '' };
      const message = { jsonrpc: '2.0', method: 'notifications/progress', params };
      yield frameOf({ ...call, reported: ended }, writeJson(message));
    },
  };
}

function frameOf(call: OpenCall, data: string): string {
  return `id: ${toEventId(call)}\ndata: ${data}\n\n`;
}

const eventIdSchema = z.tuple([
  idSchema,
  idSchema.nullable(),
  z.int().min(0),
  z
    .uuid()
    .transform((id) => id.toLowerCase())
    .optional(),
  z.boolean().optional(),
]);
const MAX_EVENT_ID_CHARACTERS = 2_000;

function toEventId({ requestId, progressToken, reported, ofRun, isTask = false }: OpenCall): string {
  const named = ofRun === undefined ? [] : [ofRun, isTask];
  return Buffer.from(JSON.stringify([requestId, progressToken ?? null, reported, ...named])).toString('base64url');
}

/** Returns undefined for a text that is no id of an event of a call. */
export function parseEventId(eventId: string): OpenCall | undefined {
  if (eventId.length > MAX_EVENT_ID_CHARACTERS) return undefined;
  try {
    const parsed = eventIdSchema.parse(JSON.parse(Buffer.from(eventId, 'base64url').toString()));
    const [requestId, progressToken, reported, ofRun, isTask] = parsed;
    return { requestId, progressToken: progressToken ?? undefined, reported, ofRun, isTask };
  } catch {
    return undefined;
  }
}
