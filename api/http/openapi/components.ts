// The schemas that the document names. A schema that is not listed here is written out wherever it is used.
import { z } from 'zod';
import { badRequestSchema, detailSchema } from '../answer-schemas.js';
import { chatErrorSchema } from '../../chat/chat-errors.js';
import { checkSchema } from '../../workflows/check-drawing.js';
import { amountSchema, projectSchema } from '../../projects/project-view.js';
import { roleSchema } from '../../projects/role-schema.js';
import { envelopeSchema, nodeEntrySchema } from '../../runs/run-envelope.js';
import { runSchema } from '../../runs/run-view.js';
import { workflowSchema } from '../../workflows/workflow-view.js';

const named: Record<string, z.ZodType> = {
  Amount: amountSchema,
  BadRequest: badRequestSchema,
  ChatError: chatErrorSchema,
  Error: detailSchema,
  NodeResult: nodeEntrySchema,
  Project: projectSchema,
  Run: runSchema,
  Role: roleSchema,
  RunEnvelope: envelopeSchema,
  Workflow: workflowSchema,
  WorkflowCheck: checkSchema,
};

/** Registers the names with zod and keeps each schema's own description. Idempotent. */
export function nameComponents(): void {
  for (const [id, schema] of Object.entries(named)) z.globalRegistry.add(schema, { ...schema.meta(), id });
}
