import { z } from 'zod';
import { runPurpose } from '../http/query-values.js';
import type { ApprovalRequest } from '../../db/agents/approval-requests-repository.js';
import { pathSchema } from '../http/answer-schemas.js';

const timestamp = z.iso.datetime();
export const personSchema = z.object({ id: z.int(), name: z.string() });

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
  server_label: z.string().describe('Empty where the tool is a workflow'),
  tool_name: z.string(),
  arguments: z.unknown().describe('What the model asks for, secrets masked; null once it has expired'),
  arguments_hash: z
    .string()
    .describe('SHA-256 of exactly what the tool would get, in hexadecimal (docs/use/approvers.md)'),
  edited_arguments: z
    .unknown()
    .describe('What a person has put in the place of `arguments`, and the tool would get; null where nobody has'),
  required: z.int().describe('How many different people must approve'),
  exclude_starter: z.boolean().describe('Whether `requested_by` may not decide'),
  roles: z
    .array(z.enum(['editor', 'admin', 'owner']))
    .nullable()
    .describe('Who may decide; null for all three'),
  decisions: z
    .array(
      z.object({
        decided_by: personSchema,
        decision: z.enum(['approved', 'rejected']),
        reason: z.string(),
        decided_at: timestamp,
        arguments_hash: z.string().describe('Of the arguments that were decided on; approvals of others do not count'),
      }),
    )
    .describe('Who has decided so far, in their order'),
  status: z.enum(['pending', 'approved', 'rejected', 'expired']),
  reason: z.string(),
  decided_by: personSchema.nullable().describe('Whose decision has settled the request; null while none has'),
  decided_at: timestamp.nullable(),
  created_at: timestamp,
  expires_at: timestamp,
  purpose: runPurpose,
});

export function toApproval(request: ApprovalRequest): Record<string, unknown> {
  return { ...request };
}
