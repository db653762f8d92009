import { z } from 'zod';
import type { StoredAttempt } from '../../db/nodes/node-attempts-repository.js';
import type { StoredNode } from '../../db/runs/node-detail-repository.js';
import { transactionSchema } from '../billing/transaction-view.js';
import { pathSchema } from '../http/answer-schemas.js';
import { nodeEntrySchema, waitReason } from '../envelope/run-envelope.js';

const timestamp = z.iso.datetime();

const attemptSchema = z.object({
  number: z.int().describe('Counts from 1'),
  started_at: timestamp,
  finished_at: timestamp.nullable().describe('Of an attempt whose worker was lost: when the next attempt found it'),
  status: z.enum(['in progress', 'succeed', 'failed']),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export const nodeSchema = nodeEntrySchema.extend({
  path: pathSchema,
  started_at: timestamp.nullable().describe('When the first attempt began'),
  finished_at: timestamp.nullable(),
  queued_ms: z
    .int()
    .nullable()
    .describe('From when the node was ready to its first attempt; null while it has not begun'),
  waited_for: waitReason
    .optional()
    .describe(
      'Of a node that only waits: what it waits for, or has waited for. Of other nodes: what they ' +
        'wait for now, an agent for its tool calls; absent otherwise',
    ),
  attempts: z.array(attemptSchema).describe('In their order, at most the last 100'),
  input: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The data of the node with its variables filled in, secrets masked; rendered for this answer'),
  input_missing: z.enum(['not_started', 'expired', 'too_large', 'unreadable']).optional().describe('Why input is null'),
  transactions: z.array(transactionSchema),
});

type NodeAttempt = z.infer<typeof attemptSchema>;

/**
 * Joins the stored earlier attempts with the last one, which the node's own row holds. While a node waits for a retry
 * or for its first attempt, all attempts that it has had are stored as earlier ones. A reused result took no attempt of
 * this run.
 */
export function toAttempts(node: StoredNode, kept: StoredAttempt[]): NodeAttempt[] {
  if (node.isReused) return [];
  const earlier = kept.map((attempt): NodeAttempt => ({
    number: attempt.number,
    started_at: attempt.startedAt.toISOString(),
    finished_at: attempt.finishedAt.toISOString(),
    status: 'failed',
    error: { code: attempt.code, message: attempt.message ?? messageOf(attempt.code) },
  }));
  if ((kept.at(-1)?.number ?? 0) >= node.attempts) return earlier;
  const error = { code: node.errorCode ?? 'failed', message: node.errorMessage ?? messageOf(node.errorCode) };
  const last: NodeAttempt = {
    number: node.attempts,
    started_at: node.attemptStartedAt.toISOString(),
    finished_at: node.finishedAt,
    status: node.status,
    error: node.status === 'failed' ? error : null,
  };
  return [...earlier, last];
}

function messageOf(code: string | null): string {
  return code === 'worker_lost' ? 'The worker that made the attempt was lost.' : 'The node failed.';
}
