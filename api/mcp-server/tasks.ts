// Tasks of the protocol: a task is a run, and its id is the run's (docs/use/mcp.md).
import { z } from 'zod';
import { findOpenRequests } from '../../db/runs/open-requests-repository.js';
import { findTask, listTasks, type ToolTask } from '../../db/mcp-server/tool-tasks-repository.js';
import { ownValue, type JsonObject } from '../../graph/json.js';
import type { McpServerDeps } from './deps.js';
import { ApiError, overloaded } from '../http/errors.js';
import type { RouteResult } from '../http/route.js';
import { cancelRun } from '../runs/cancel-run.js';
import { toRequestText } from '../runs/request-text.js';
import type { Calling } from './calling.js';
import { answerResult, ErrorCode, ProtocolError, type Request } from './messages.js';
import { streamCall } from './stream-call.js';

type TaskDeps = Pick<McpServerDeps, 'config' | 'db'>;

const POLL_INTERVAL_MS = 5_000;
const DAY_MS = 86_400_000;
const PAGE_TASKS = 20;

/**
 * Answers `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`; undefined for any other method, or if the
 * client's version has no tasks.
 */
export function answerTaskRequest(calling: Calling, request: Request): Promise<RouteResult> | undefined {
  if (!calling.hasTasks) return undefined;
  const { method } = request;
  if (method === 'tasks/get') return getTask(calling, request);
  if (method === 'tasks/result') return streamResult(calling, request);
  if (method === 'tasks/list') return listPage(calling, request);
  if (method === 'tasks/cancel') return cancelTask(calling, request);
  return undefined;
}

/** Answers a call with `task`, whose run was accepted. */
export async function answerCreated({ deps, caller }: Calling, { id }: Request, runId: string): Promise<RouteResult> {
  const task = await findTask(deps.db, caller, runId);
  if (task === undefined) throw unknownTask();
  return answerResult(id, { task: await toTask(deps, task) });
}

async function getTask({ deps, caller }: Calling, { id, params }: Request): Promise<RouteResult> {
  const task = await findOwn(deps, caller, params);
  return answerResult(id, await toTask(deps, task));
}

/** The result comes when the run has ended, however long that takes. */
async function streamResult(
  { deps, caller, takesFirstEvent, signal }: Calling,
  request: Request,
): Promise<RouteResult> {
  const { runId } = await findOwn(deps, caller, request.params);
  if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
  const call = { requestId: request.id, progressToken: undefined, reported: 0, ofRun: runId, isTask: true };
  return streamCall(deps, { ...call, runId, reader: caller, takesFirstEvent, signal });
}

async function listPage({ deps, caller }: Calling, { id, params }: Request): Promise<RouteResult> {
  const after = toPlace(ownValue(params, 'cursor'));
  const found = await listTasks(deps.db, caller, { after, limit: PAGE_TASKS + 1 });
  const page = found.slice(0, PAGE_TASKS);
  const last = found.length > PAGE_TASKS ? page.at(-1) : undefined;
  const tasks = await Promise.all(page.map((task) => toTask(deps, task)));
  return answerResult(id, { tasks, ...(last !== undefined && { nextCursor: last.runId }) });
}

async function cancelTask({ deps, log, caller, doer }: Calling, { id, params }: Request): Promise<RouteResult> {
  const { runId, workflowId } = await findOwn(deps, caller, params);
  await cancelRun(deps, log, { workflowId, runId, doer }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'run_finished')) throw error;
    throw new ProtocolError(ErrorCode.InvalidParams, 'The task has ended, and cannot be cancelled any more.');
  });
  return answerResult(id, await toTask(deps, await findOwn(deps, caller, params)));
}

const taskIdSchema = z.uuid();

async function findOwn({ db }: TaskDeps, caller: Calling['caller'], params: JsonObject): Promise<ToolTask> {
  const taskId = taskIdSchema.safeParse(ownValue(params, 'taskId'));
  const task = taskId.success ? await findTask(db, caller, taskId.data) : undefined;
  if (task === undefined) throw unknownTask();
  return task;
}

function unknownTask(): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, 'There is no such task of this user.');
}

/** A `Task` of the protocol. `ttl`, in milliseconds, is the retention of its result. */
async function toTask({ db, config }: TaskDeps, task: ToolTask): Promise<JsonObject> {
  const { runId, createdAt, updatedAt } = task;
  const open = statusOf(task) === 'working' ? await findOpenRequests(db, runId) : [];
  const requests = open.filter(({ kind }) => kind !== 'sign_in');
  const [status, message] =
    requests.length > 0 ? ['input_required', toRequestText(requests, config)] : [statusOf(task), failureOf(task)];
  return {
    taskId: runId,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: updatedAt.toISOString(),
    ttl: config.resultRetentionDays * DAY_MS,
    pollInterval: POLL_INTERVAL_MS,
  };
}

/** An open run whose cancel was requested counts as cancelled at once. */
function statusOf({ status, isCancelRequested }: ToolTask): 'working' | 'completed' | 'failed' | 'cancelled' {
  if (status === 'Succeeded') return 'completed';
  if (status === 'Error') return 'failed';
  return status === 'Cancelled' || isCancelRequested ? 'cancelled' : 'working';
}

function failureOf({ errorCode, errorMessage }: ToolTask): string | undefined {
  return errorCode === null ? undefined : `${errorCode}: ${errorMessage ?? 'a node failed.'}`;
}

function toPlace(cursor: unknown): string | undefined {
  const parsed = taskIdSchema.optional().safeParse(cursor);
  if (parsed.success) return parsed.data;
  throw new ProtocolError(ErrorCode.InvalidParams, 'The cursor is none that a list of tasks has given.');
}
