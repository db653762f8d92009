import { z } from 'zod';
import type { ApprovalRequest } from '../../db/agents/approval-requests-repository.js';
import { pathSchema } from '../http/answer-schemas.js';

const timestamp = z.iso.datetime();
const personSchema = z.object({ id: z.int(), name: z.string() });

export const approvalSchema = z.object({
  request_id: z.string(),
  run_id: z.string(),
  path: pathSchema,
  node_id: z.string(),
  node_label: z.string(),
  workflow_id: z.int(),
  project_id: z.int(),
  workflow: z.object({ id: z.int(), title: z.string() }),
  project: z.object({ id: z.int(), name: z.string() }),
  requested_by: personSchema.describe('Who started the run'),
  server_label: z.string(),
  tool_name: z.string(),
  arguments: z.unknown().describe('Exactly what the tool would get, secrets masked'),
  status: z.enum(['pending', 'approved', 'rejected', 'expired']),
  reason: z.string(),
  decided_by: personSchema.nullable().describe('Null where nobody has decided'),
  decided_at: timestamp.nullable(),
  created_at: timestamp,
  expires_at: timestamp,
});

export function toApproval(request: ApprovalRequest): Record<string, unknown> {
  return { ...request };
}
