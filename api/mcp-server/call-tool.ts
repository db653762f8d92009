// `tools/call`: runs the workflow in the name of the key's user, with the arguments as its input.
import { CallToolRequestParamsSchema } from '@modelcontextprotocol/sdk/types.js';
import { mayRun } from '../../acceptance/roles.js';
import { findRunRole } from '../../db/projects/members-repository.js';
import type { Db } from '../../db/core/client.js';
import type { DrawingToRun } from '../../acceptance/drawing-cache.js';
import { insertTask } from '../../db/mcp-server/tool-tasks-repository.js';
import { isWithdrawn } from '../../db/runs/idempotency-repository.js';
import { findTool } from '../../db/mcp-server/tools-repository.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { cutText } from '../../graph/cut-text.js';
import type { McpServerDeps } from './deps.js';
import type { Envelope } from '../envelope/run-envelope.js';
import { collectedBytes } from '../http/collect-body.js';
import { ApiError, overloaded, unavailable } from '../http/errors.js';
import type { Caller, RouteResult } from '../http/route.js';
import { toRefusedInput, type RefusedInput } from '../runs/refused-input.js';
import { acceptOnce, tryToAccept } from '../runs/accept-run.js';
import { toKeyedRequest } from '../runs/idempotency.js';
import { withDrawing } from '../workflows/with-drawing.js';
import type { Calling } from './calling.js';
import { failure, GET_RUN } from './call-result.js';
import { getRun } from './get-run.js';
import { answerResult, ErrorCode, idSchema, ProtocolError, type Request, type RequestId } from './messages.js';
import { streamCall } from './stream-call.js';
import { answerCreated } from './tasks.js';
import { idInToolName, toToolName } from './tool-view.js';
import { toCallKey } from './tool-session.js';

/**
 * Throws `ProtocolError` for a call that can start no run, and 503 while the service has no room. An error that the
 * model can correct is a result that explains it, except for a call with `task`, which has no result without a run.
 */
export async function callTool(calling: Calling, request: Request): Promise<RouteResult> {
  const { deps, caller, hasTasks, takesFirstEvent, signal } = calling;
  const { id, params } = request;
  const { name, input, progressToken, wantsTask } = readCall(params);
  const isTask = wantsTask && hasTasks;
  if (name === GET_RUN && isTask) throw new ProtocolError(ErrorCode.MethodNotFound, `${GET_RUN} is not run as a task.`);
  if (name === GET_RUN) return getRun(calling, request, input);
  if (deps.databaseHealth.state === 'no room') throw unavailable();
  if (!isTask && deps.runHub.isFullFor(caller.userId)) throw overloaded();
  const accepted = await acceptCall(calling, id, { name, input, isTask });
  if ('refused' in accepted && isTask) throw invalidParams(toSentences(accepted.refused));
  if ('refused' in accepted) return answerResult(id, failure(toSentences(accepted.refused)));
  if (isTask) return answerCreated(calling, request, accepted.runId);
  const call = { requestId: id, progressToken, reported: 0 };
  return streamCall(deps, { ...call, runId: accepted.runId, reader: caller, takesFirstEvent, signal });
}

/**
 * A repeated request gets the run that it started if the caller may still run the workflow, even if the tool was
 * renamed or is no longer offered: another answer would make the model start a second run.
 */
async function acceptCall(
  { deps, log, caller, sessionId, tenant, memory, signal }: Calling,
  requestId: RequestId,
  { name, input, isTask }: { name: string; input: JsonObject; isTask: boolean },
): Promise<{ runId: string } | { refused: RefusedInput }> {
  const workflowId = idInToolName(name);
  if (workflowId === undefined) throw unknownTool(name);
  const { userId, key } = toCallKey(caller, sessionId, requestId);
  const keyed = toKeyedRequest(userId, { 'idempotency-key': key }, { workflowId, input });
  const called: { workflow?: DrawingToRun } = {};
  const attempt = async (): Promise<Envelope | undefined> => {
    const workflow = (called.workflow ??= await findCalled(deps, caller, name, workflowId));
    const request = { workflow, userId, input, keyed, leavesNoDraft: true };
    const note = (db: Db, runId: string): Promise<void> => insertTask(db, { runId, userId });
    const attempted = await tryToAccept(deps, log, { ...request, ...(isTask && { note }) });
    if (attempted === undefined && (await isWithdrawn(deps.db, { userId, key }))) throw cancelled();
    return attempted;
  };
  const before = memory.bytes;
  const asker = { tenant, signal, memory };
  const reads = { workflowId, form: 'parsed', bodyBytes: collectedBytes(memory) } as const;
  const { envelope, isRepeat } = await withDrawing(deps, asker, reads, () =>
    acceptOnce(deps, keyed, attempt).catch(refuseSecondUse),
  );
  // A call may last long and no longer needs the drawing, so the memory of the drawing is given back.
  await memory.resize(before);
  const { id: runId } = envelope.data;
  if (envelope.status !== 201 || runId === null)
    return { refused: toRefusedInput(envelope, called.workflow?.document) };
  if (isRepeat && !mayRun((await findRunRole(deps.db, runId, caller))?.role ?? null)) throw unknownTool(name);
  return { runId };
}

interface ReadCall {
  name: string;
  input: JsonObject;
  progressToken: RequestId | undefined;
  wantsTask: boolean;
}

function readCall(params: JsonObject): ReadCall {
  // The SDK's schema gets `{}` in place of the arguments, because it would copy them and drop a key `__proto__`.
  const parsed = CallToolRequestParamsSchema.safeParse({ ...params, arguments: {} });
  const [input, meta] = [ownValue(params, 'arguments') ?? {}, ownValue(params, '_meta')];
  const token = idSchema.optional().safeParse(ownValue(meta, 'progressToken'));
  if (!parsed.success) throw invalidParams('A call names its tool, and its _meta is an object.');
  if (!isObject(input)) throw invalidParams('The arguments of a tool are an object.');
  if (!token.success) throw invalidParams('The progress token is an integer or a short string.');
  const wantsTask = parsed.data.task !== undefined;
  return { name: parsed.data.name, input, progressToken: token.data, wantsTask };
}

/** Requires the present name, so that after a change of the title a model with the old name lists the tools again. */
async function findCalled(
  { db, drawings }: McpServerDeps,
  caller: Caller,
  name: string,
  workflowId: number,
): Promise<DrawingToRun> {
  const tool = await findTool(db, caller, workflowId);
  const drawing = tool !== undefined && toToolName(tool) === name ? await drawings.find(workflowId) : undefined;
  if (drawing === undefined) throw unknownTool(name);
  return drawing;
}

function refuseSecondUse(error: unknown): never {
  if (!(error instanceof ApiError && error.code === 'idempotency_mismatch')) throw error;
  throw new ProtocolError(ErrorCode.InvalidRequest, 'The session has used this request id before, for another call.');
}

function toSentences({ detail, errors = {} }: RefusedInput): string {
  return [detail, ...Object.entries(errors).map(([field, sentences]) => `${field}: ${sentences.join(' ')}`)].join('\n');
}

/** Clients ignore the answer to a call that they have cancelled. */
function cancelled(): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidRequest, 'The call was cancelled before its run began.');
}

const ECHOED_CHARACTERS = 100;

function unknownTool(name: string): ProtocolError {
  return invalidParams(`Unknown tool: ${cutText(name, ECHOED_CHARACTERS)}`);
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
