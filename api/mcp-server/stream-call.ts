// The answer to a tool call: server-sent events of the protocol's messages. It holds nothing that another process could not
// tell as well, so that a client which loses its connection goes on at any of them (ADR 24).
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

/** A caller that takes nothing for so long is disconnected; it may come back to the place where it was. */
const STALLED_MS = 60_000;
interface CallTimes {
  /** The call is answered then, whatever the run waits for; the run goes on. */
  maxMs: number;
  /** Proxies close what says nothing for longer, and it is noticed by then that the caller has lost its right to run. */
  aliveEveryMs: number;
}

const TIMES: CallTimes = { maxMs: 3_600_000, aliveEveryMs: 15_000 };
/** A client that has lost its connection comes back after this time. */
const RETRY_MS = 2_000;

/** The parts that a report of a call needs. */
export type CallDeps = Pick<McpServerDeps, 'db' | 'memory' | 'runHub' | 'sharedReads'>;

/** A call whose run was accepted. Ids of events hold it, so that clients bring it back. */
interface OpenCall {
  requestId: RequestId;
  /** The run that the client has named; absent where the call has started it. */
  ofRun?: string | undefined;
  /** True if the run is named as a task. */
  isTask?: boolean | undefined;
  /** Absent where the client wants to hear of no progress. */
  progressToken: RequestId | undefined;
  /** The number of nodes that the client has heard of. */
  told: number;
}

interface StreamedCall extends OpenCall, Omit<FollowedCall, 'tellsNodes' | 'aliveEveryMs'> {
  /** True if the client takes an event without data at the start, by whose id it comes back: from 2025-11-25 on. */
  takesFirstEvent: boolean;
}

export function streamCall(deps: CallDeps, call: StreamedCall, times = TIMES): RouteResult {
  const body = Readable.from(framesOf(deps, call, times), { objectMode: false, highWaterMark: 1 });
  return { status: 200, headers: EVENT_STREAM_HEADERS, body, stalledMs: STALLED_MS };
}

async function* framesOf(
  deps: CallDeps,
  call: StreamedCall,
  { maxMs, aliveEveryMs }: CallTimes,
): AsyncGenerator<string> {
  const { requestId, runId, progressToken } = call;
  const untilMs = performance.now() + maxMs;
  yield call.takesFirstEvent ? `retry: ${RETRY_MS}\n${frameOf(call, '')}` : COMMENT;
  const progress = progressToken === undefined ? undefined : await createProgress(deps, call, progressToken);
  for await (const news of followCall(deps, { ...call, tellsNodes: progress !== undefined, aliveEveryMs })) {
    if (news.kind === 'node') yield* progress?.frames(news.nodeId) ?? [];
    else if (news.kind === 'lost') {
      yield frameOf(call, toResponse(requestId, failure('You may not run this workflow any more.', runId)));
    } else if (news.kind === 'ended') yield* resultFrames(deps, call);
    else if (call.isTask === true || performance.now() < untilMs) yield COMMENT;
    else {
      yield frameOf(call, toResponse(requestId, stillRunning(runId)));
      return;
    }
  }
}

/** The memory of a result is held until the client has taken it. */
async function* resultFrames(deps: CallDeps, call: StreamedCall): AsyncGenerator<string> {
  const lease = deps.memory.lease(`user:${call.reader.userId}`, call.signal);
  try {
    const result = await readCallResult(deps, call.runId, lease);
    const related = call.isTask === true ? { [RELATED_TASK_META_KEY]: { taskId: call.runId } } : {};
    const told = { ...result, _meta: { ...(result['_meta'] as JsonObject), ...related } };
    yield frameOf(call, toResponse(call.requestId, told));
  } finally {
    lease.end();
  }
}

/** Progress rises from message to message, also after a client has come back: what it has heard of is not told again. */
async function createProgress({ db }: CallDeps, call: StreamedCall, progressToken: RequestId) {
  const hash = await findSnapshotOf(db, call.runId);
  const labels = async (): Promise<NodeLabels> => (hash === undefined ? new Map() : labelsOf(db, hash));
  const { size: total } = await labels();
  let ended = 0;
  return {
    async *frames(nodeId: string): AsyncGenerator<string> {
      ended += 1;
      if (ended <= call.told) return;
      const params = { progressToken, progress: ended, total, message: (await labels()).get(nodeId) ?? '' };
      const message = { jsonrpc: '2.0', method: 'notifications/progress', params };
      yield frameOf({ ...call, told: ended }, writeJson(message));
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
  z.uuid().optional(),
  z.boolean().optional(),
]);
const MAX_EVENT_ID_CHARACTERS = 2_000;

function toEventId({ requestId, progressToken, told, ofRun, isTask = false }: OpenCall): string {
  const named = ofRun === undefined ? [] : [ofRun, isTask];
  return Buffer.from(JSON.stringify([requestId, progressToken ?? null, told, ...named])).toString('base64url');
}

/** Returns undefined for a text that is no id of an event of a call. */
export function parseEventId(eventId: string): OpenCall | undefined {
  if (eventId.length > MAX_EVENT_ID_CHARACTERS) return undefined;
  try {
    const parsed = eventIdSchema.parse(JSON.parse(Buffer.from(eventId, 'base64url').toString()));
    const [requestId, progressToken, told, ofRun, isTask] = parsed;
    return { requestId, progressToken: progressToken ?? undefined, told, ofRun, isTask };
  } catch {
    return undefined;
  }
}
