import { z } from 'zod';
import type { ApprovalRequest } from '../../db/agents/approvals-repository.js';
import { pathSchema } from '../http/answer-schemas.js';

const timestamp = z.iso.datetime();

export const approvalSchema = z.object({
  request_id: z.string(),
  path: pathSchema,
  node_id: z.string(),
  server_label: z.string(),
  tool_name: z.string(),
  arguments: z.unknown().describe('Exactly what the tool would get, secrets masked'),
  status: z.enum(['pending', 'approved', 'rejected', 'expired']),
  reason: z.string(),
  decided_by: z.int().nullable(),
  decided_at: timestamp.nullable(),
  created_at: timestamp,
  expires_at: timestamp,
});

export const ownedApprovalSchema = approvalSchema.extend({
  run_id: z.string(),
  workflow_id: z.int(),
  project_id: z.int(),
});

export function toApproval(request: ApprovalRequest): Record<string, unknown> {
  const { run_id: _run, workflow_id: _workflow, project_id: _project, ...shown } = request;
  return shown;
}

export function toOwnedApproval(request: ApprovalRequest): Record<string, unknown> {
  return { ...request };
}
