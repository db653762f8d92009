// Requests of agents for a person's decision, as the service returns them. See docs/use/approvers.md.
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../service/api.js';
import type { JsonObject } from '../../ui/json.js';
import type { Approval, ApprovalFilter, ApprovalList, Verdict } from './approvals.js';

type Decision =
  paths['/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}/approve/']['post']['responses'][200]['content']['application/json'];

/**
 * The arguments must be shown exactly as the tool would get them. So the answers are read as text, and numbers that a
 * double would round stay as they are (`ExactNumber`).
 */
export async function listApprovals(
  query: { status: ApprovalFilter; page: number; size: number },
  signal: AbortSignal,
): Promise<ApprovalList> {
  const options = { params: { query }, parseAs: 'text', signal } as const;
  return parseJson(await unwrap(api.GET('/api/v1/agent-approvals/', options))) as ApprovalList;
}

export async function readApproval(requestId: string, signal?: AbortSignal): Promise<Approval> {
  const options = { params: { path: { request_id: requestId } }, parseAs: 'text', ...(signal && { signal }) } as const;
  return parseJson(await unwrap(api.GET('/api/v1/agent-approvals/{request_id}/', options))) as Approval;
}

export interface Wish {
  verdict: Verdict;
  reason: string;
  /** The arguments that the tool gets instead, with numbers as `parseJson` reads them. */
  edited?: JsonObject;
  /** The hash of the arguments that the person has seen. */
  seenHash: string;
}

/**
 * The outcome is the inner status: 200 if the decision holds, 409 if it came too late or the person has seen other
 * arguments, 404 without a request.
 */
export function decide(request: Approval, { verdict, reason, edited, seenHash }: Wish): Promise<Decision> {
  const path = { workflow_run_id: request.run_id, request_id: request.request_id };
  const base = '/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}';
  if (verdict === 'reject') return unwrap(api.POST(`${base}/reject/`, { params: { path }, body: { reason } }));
  const body = { reason, arguments_hash: seenHash, ...(edited && { arguments: edited }) };
  return unwrap(api.POST(`${base}/approve/`, { params: { path }, body, bodySerializer: writeJson }));
}

// Human tasks, as the service returns them. See docs/use/approvers.md.

type TaskList = paths['/api/v1/human-tasks/']['get']['responses'][200]['content']['application/json'];
export type Task = TaskList['items'][number];

/** Returns the tasks of a page, the newest first. */
export function listTasks(
  query: { status: 'pending' | 'answered' | 'expired'; page: number; size: number },
  signal: AbortSignal,
): Promise<TaskList> {
  return unwrap(api.GET('/api/v1/human-tasks/', { params: { query }, signal }));
}

export function readTask(taskId: string, signal?: AbortSignal): Promise<Task> {
  const options = { params: { path: { task_id: taskId } }, ...(signal && { signal }) };
  return unwrap(api.GET('/api/v1/human-tasks/{task_id}/', options));
}

interface GivenAnswer {
  action: string;
  values: JsonObject;
  comment: string;
}

export function answerTask(taskId: string, body: GivenAnswer): Promise<Task> {
  return unwrap(api.POST('/api/v1/human-tasks/{task_id}/answer/', { params: { path: { task_id: taskId } }, body }));
}

/**
 * Returns `shown` with the present state of the tasks, followed by the tasks that have come since. So nothing moves by
 * itself.
 */
export function keepPlaces(shown: readonly Task[], listed: readonly Task[]): Task[] {
  const now = new Map(listed.map((task) => [task.id, task]));
  const known = new Set(shown.map(({ id }) => id));
  return [...shown.map((task) => now.get(task.id) ?? task), ...listed.filter(({ id }) => !known.has(id)).toReversed()];
}
