// Requests of agents for a person's decision, as the service answers them. docs/use/approvers.md.
import { parseJson } from '../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../app/api.js';
import type { Approval, ApprovalFilter, ApprovalList, Verdict } from './approval-types.js';

type Decision =
  paths['/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}/approve/']['post']['responses'][200]['content']['application/json'];

/**
 * The arguments must be shown exactly as the tool would get them: numbers that a double would round stay as they are
 * (`ExactNumber`), hence the answers are read as text.
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

/** The outcome is the inner status: 200 where the decision holds, 409 where it came too late, 404 without a request. */
export function decide(request: Approval, verdict: Verdict, reason: string): Promise<Decision> {
  const path = { workflow_run_id: request.run_id, request_id: request.request_id };
  const options = { params: { path }, body: { reason } };
  const base = '/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}';
  return unwrap(verdict === 'approve' ? api.POST(`${base}/approve/`, options) : api.POST(`${base}/reject/`, options));
}
