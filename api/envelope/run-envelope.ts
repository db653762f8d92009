// The envelope with the outcome of a run or a check. A start or a poll is answered with it and the HTTP status 200,
// whatever the outcome (docs/use/api.md, "Start a run").
import { z } from 'zod';
import type { StructuralError } from '../../graph/document.js';
import type { NodeErrors } from '../../graph/validate.js';
import { badRequestSchema } from '../http/answer-schemas.js';

export const waitReason = z.enum(['approval', 'callback', 'child', 'connection', 'human', 'time', 'worker']);

const executionStatus = z.enum(['in queue', 'in progress', 'succeed', 'failed', 'not found']);

export const nodeEntrySchema = z
  .object({
    id: z.string(),
    status: executionStatus,
    started_at: z.iso.datetime().nullable().optional().describe('Null where the start is not stored yet'),
    finished_at: z.iso.datetime().nullable().optional().describe('Null until the node has ended'),
    result: z.unknown().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    handled: z.literal(true).optional().describe('The node failed, and the run survived it (`on_error`)'),
    reused: z.literal(true).optional().describe('The result was taken over: nothing was executed, and nothing paid'),
    source: z.string().optional().describe('What a test has taken the result from: `mock`, `pin`, or the id of a run'),
    mocked: z.literal(true).optional().describe('The result is that of a mock'),
    stale: z.literal(true).optional().describe('The node of the pin, or something before it, has changed since'),
    truncated: z.boolean().optional(),
    approval_requests: z.array(z.record(z.string(), z.unknown())).optional(),
    waiting: z
      .object({
        for: waitReason,
        until: z.iso.datetime().optional().describe('Absent for a wait for a worker'),
        callback_url: z
          .url()
          .optional()
          .describe('Of a callback, for who may run the workflow: the address that takes it'),
        task_id: z.string().optional().describe('Of a human task'),
        run_id: z.string().optional().describe('Of a sub-workflow: its run'),
        connection_id: z.int().optional().describe('For which somebody has to sign in'),
        pool: z.string().optional().describe('Of a wait for a worker: the pool that has none'),
      })
      .optional()
      .describe('What a node that is in progress waits for, and until when at the latest'),
    iterations: z
      .object({ total: z.int(), succeeded: z.int(), failed: z.int(), in_progress: z.int() })
      .optional()
      .describe('Of a loop: how many iterations there are, of a conditional loop so far'),
  })
  .meta({ id: 'NodeResult' });

export const envelopeSchema = z
  .object({
    status: z.int(),
    data: z.object({
      id: z.string().nullable(),
      status: executionStatus,
      data: z.record(z.string(), nodeEntrySchema).nullable(),
      version: z
        .int()
        .optional()
        .describe('Rises with every change of the run, though not by one. The `ETag` of a poll changes with it'),
      output: z
        .unknown()
        .optional()
        .describe('The value of the first output node that has ended, any JSON; absent until then. It never changes'),
      detail: z.string().optional(),
      errors: z.array(z.object({ code: z.string(), message: z.string(), node_id: z.string().optional() })).optional(),
    }),
  })
  .meta({ id: 'RunEnvelope' });

export type Envelope = z.infer<typeof envelopeSchema>;

export function acceptedEnvelope(runId: string): Envelope {
  return { status: 201, data: { id: runId, status: 'in queue', data: null } };
}

/** Contains the errors of nodes by their ids. `runId` is null if no run is stored. */
export function invalidNodesEnvelope(runId: string | null, errors: NodeErrors): Envelope {
  return { status: 422, data: { id: runId, status: 'failed', data: toFailedNodes(errors) } };
}

/** The answer to a malformed drawing; nothing is stored for it. */
export function structuralEnvelope(errors: StructuralError[]): Envelope {
  const detail = errors[0]?.message ?? 'The workflow cannot run.';
  return { status: 400, data: { id: null, status: 'failed', data: null, detail, errors } };
}

/** The body of an HTTP 400 of re-run and resume: an error together with the envelope, or an error alone. */
export const refusedRunSchema = z.union([
  envelopeSchema.extend({ detail: z.string(), code: z.string() }),
  badRequestSchema,
]);

export function toRefusal(envelope: Envelope): z.infer<typeof refusedRunSchema> {
  const isStructural = envelope.status === 400;
  const detail = envelope.data.detail ?? 'The workflow or its input is not valid.';
  return { detail, code: isStructural ? 'invalid_workflow' : 'invalid_nodes', ...envelope };
}

export function toFailedNodes(errors: NodeErrors): NonNullable<Envelope['data']['data']> {
  return Object.fromEntries(
    Object.entries(errors).map(([id, result]) => [id, { id, status: 'failed' as const, result }]),
  );
}
