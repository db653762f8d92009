// Service calls about the approval requests of agents. See docs/use/approvers.md.
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../service/api.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Approval, ApprovalFilter, ApprovalList, Verdict } from './approvals.js';

type Decision =
  paths['/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}/approve/']['post']['responses'][200]['content']['application/json'];

/**
 * Returns a page of requests. Numbers that a double would round are `ExactNumber`, because people must see the exact
 * arguments that the tool gets.
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
  /** Replaces the tool's arguments. Numbers are as `parseJson` returns them. */
  edited?: JsonObject;
  /** Hash of the arguments that the person has seen. */
  seenHash: string;
}

/**
 * Sends a decision. The inner status is the outcome: 200 if the decision counts; 409 if it was too late, if the
 * arguments have changed, or if the request has had too many decisions and can only be rejected; 404 if there is no
 * such request.
 */
export function decide(request: Approval, { verdict, reason, edited, seenHash }: Wish): Promise<Decision> {
  const path = { workflow_run_id: request.run_id, request_id: request.request_id };
  const base = '/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}';
  if (verdict === 'reject') return unwrap(api.POST(`${base}/reject/`, { params: { path }, body: { reason } }));
  const body = { reason, arguments_hash: seenHash, ...(edited && { arguments: edited }) };
  return unwrap(api.POST(`${base}/approve/`, { params: { path }, body, bodySerializer: writeJson }));
}

// Service calls about human tasks. See docs/use/approvers.md.

type TaskList = paths['/api/v1/human-tasks/']['get']['responses'][200]['content']['application/json'];
export type Task = TaskList['items'][number];

/** Returns a page of tasks, newest first. */
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

interface AnswerBody {
  action: string;
  values: JsonObject;
  comment: string;
}

export function answerTask(taskId: string, body: AnswerBody): Promise<Task> {
  return unwrap(api.POST('/api/v1/human-tasks/{task_id}/answer/', { params: { path: { task_id: taskId } }, body }));
}

/**
 * Returns the shown tasks in their order, each in its listed version or, if it is not listed, unchanged. The tasks that
 * are only listed follow, oldest first, so that nothing moves while somebody reads.
 */
export function keepPlaces(shown: readonly Task[], listed: readonly Task[]): Task[] {
  const now = new Map(listed.map((task) => [task.id, task]));
  const known = new Set(shown.map(({ id }) => id));
  return [...shown.map((task) => now.get(task.id) ?? task), ...listed.filter(({ id }) => !known.has(id)).toReversed()];
}
