// `tools/call`: a run of the workflow in the name of the key's user, with the arguments as its input.
import { CallToolRequestParamsSchema } from '@modelcontextprotocol/sdk/types.js';
import { findTool } from '../../db/workflows/tools-repository.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { Logger } from '../../config/logger.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import type { AppDeps } from '../deps.js';
import { ApiError, overloaded } from '../http/errors.js';
import type { Caller, RouteResult } from '../http/route.js';
import { toRefusedInput, type RefusedInput } from '../hooks/refused-input.js';
import { acceptRun } from '../runs/accept-run.js';
import { toKeyedRequest, type KeyedRequest } from '../runs/idempotency.js';
import { failure } from './call-result.js';
import { answerResult, ErrorCode, idSchema, ProtocolError, type Request, type RequestId } from './messages.js';
import { streamCall } from './stream-call.js';
import { idInToolName, toToolName } from './tool-name.js';
import { toCallKey } from './tool-session.js';

/** Who calls, and in which session. */
export interface Calling {
  deps: AppDeps;
  log: Logger;
  caller: Caller;
  sessionId: string;
  takesFirstEvent: boolean;
  signal: AbortSignal;
}

/** Throws `ProtocolError` for what no run can be started for; what the model can mend is a result that says so. */
export async function callTool(calling: Calling, { id, params }: Request): Promise<RouteResult> {
  const { deps, log, caller, takesFirstEvent, signal } = calling;
  const { name, input, progressToken } = readCall(params);
  if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
  const workflow = await findCalled(deps, caller, name);
  if (workflow === undefined) throw invalidParams(`Unknown tool: ${name}`);
  const keyed = toKeyedCall(calling, id, { workflowId: workflow.id, input });
  const request = { workflow, userId: caller.userId, input, keyed, leavesNoDraft: true };
  const { envelope } = await acceptRun(deps, log, request).catch(refuseSecondUse);
  const { id: runId } = envelope.data;
  if (envelope.status !== 201 || runId === null) {
    return answerResult(id, failure(toSentences(toRefusedInput(envelope, workflow.document))));
  }
  const call = { requestId: id, progressToken, told: 0 };
  return streamCall(deps, { ...call, runId, reader: caller, takesFirstEvent, signal });
}

function readCall(params: JsonObject): { name: string; input: JsonObject; progressToken: RequestId | undefined } {
  const parsed = CallToolRequestParamsSchema.safeParse({ ...params, arguments: {} });
  const [input, meta] = [ownValue(params, 'arguments') ?? {}, ownValue(params, '_meta')];
  const token = idSchema.optional().safeParse(ownValue(meta, 'progressToken'));
  if (!parsed.success) throw invalidParams('A call names its tool, and its _meta is an object.');
  // The SDK's schema would copy the arguments and change their numbers.
  if (!isObject(input)) throw invalidParams('The arguments of a tool are an object.');
  if (!token.success) throw invalidParams('The progress token is an integer or a short string.');
  return { name: parsed.data.name, input, progressToken: token.data };
}

/** The name is the present one: after another title, a model that knows the old name looks at the list again. */
async function findCalled({ db }: AppDeps, caller: Caller, name: string): Promise<StoredDrawing | undefined> {
  const id = idInToolName(name);
  const tool = id === undefined ? undefined : await findTool(db, caller, id);
  return tool !== undefined && toToolName(tool) === name ? findDrawing(db, tool.id) : undefined;
}

/** A request that is sent again in its session is the same call: it gets the run that it has started. */
function toKeyedCall(
  { caller, sessionId }: Calling,
  requestId: RequestId,
  request: { workflowId: number; input: JsonObject },
): KeyedRequest | undefined {
  const { userId, key } = toCallKey(caller, sessionId, requestId);
  return toKeyedRequest(userId, { 'idempotency-key': key }, request);
}

function refuseSecondUse(error: unknown): never {
  if (!(error instanceof ApiError && error.code === 'idempotency_mismatch')) throw error;
  throw new ProtocolError(ErrorCode.InvalidRequest, 'The session has used this request id before, for another call.');
}

function toSentences({ detail, errors = {} }: RefusedInput): string {
  return [detail, ...Object.entries(errors).map(([field, sentences]) => `${field}: ${sentences.join(' ')}`)].join('\n');
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
