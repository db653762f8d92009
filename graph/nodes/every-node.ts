// The fields that every kind has in its node's data (docs/use/nodes.md).
import { z } from 'zod';
import { isObject, ownValue, type JsonObject } from '../json.js';
import { SECONDS_FORMAT } from './shared-fields.js';

const retrySchema = z.looseObject({
  max_attempts: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe('How often the node is tried, the first time included. Empty: as often as its kind is tried'),
  delay: z
    .number()
    .min(0)
    .max(3600)
    .optional()
    .describe('How long the second attempt waits')
    .meta({ format: SECONDS_FORMAT }),
  backoff: z
    .number()
    .min(1)
    .max(10)
    .default(2)
    .describe('Each further attempt waits this many times as long as the one before'),
});

/** The heading under which forms show the fields of every kind: an annotation in the JSON Schema. */
const group = 'Errors, retries and start';

export const everyNodeFields = {
  on_error: z
    .enum(['fail', 'continue', 'branch'])
    .default('fail')
    .describe(
      'What follows after the last attempt: `fail` fails the run, `continue` goes on by the ordinary links, `branch` goes on by the link Failed',
    )
    .meta({
      title: 'When it fails',
      group,
      labels: { fail: 'The run fails', continue: 'The run goes on', branch: 'The run goes on by Failed' },
    }),
  retry: retrySchema
    .nullish()
    .describe('Replaces the attempts and delays of the kind. A call that must not be made twice is never repeated')
    .meta({ group }),
  join: z
    .enum(['all', 'any'])
    .default('all')
    .describe('For a node with several incoming links: `all` waits for each of them, `any` starts at the first')
    .meta({
      title: 'Starts after',
      group,
      labels: { all: 'all nodes before it', any: 'the first node before it' },
    }),
};

interface EveryNode {
  onError: 'fail' | 'continue' | 'branch';
  /** True if the node starts as soon as one incoming link is taken. */
  joinsAny: boolean;
}

/** Reads data that may be invalid: an invalid value counts as absent, and the schema reports it. */
export function commonSettingsOf(data: JsonObject): EveryNode {
  const onError = ownValue(data, 'on_error');
  return {
    onError: onError === 'continue' || onError === 'branch' ? onError : 'fail',
    joinsAny: ownValue(data, 'join') === 'any',
  };
}

export interface RetryPolicy {
  /** The limit on attempts, including the first one. */
  maxAttempts: number;
  /** Returns the delay in milliseconds after attempt number `attempt`, which counts from 1. */
  delayMs: (attempt: number) => number;
}

/** The limit on the delay between two attempts, after any backoff. */
const LONGEST_DELAY_MS = 60 * 60_000;

/**
 * Returns the retry policy of a node. `own`, the policy of its kind, applies to fields that the node doesn't set,
 * except that `backoff` is 2 if the node sets only `delay`.
 */
export function retryPolicyOf(data: JsonObject, own: RetryPolicy): RetryPolicy {
  const parsed = retrySchema.safeParse(ownValue(data, 'retry'));
  if (!parsed.success) return own;
  const { max_attempts: maxAttempts = own.maxAttempts, delay, backoff } = parsed.data;
  if (delay === undefined && !setsBackoff(data)) return { ...own, maxAttempts };
  const firstMs = delay === undefined ? own.delayMs(1) : delay * 1000;
  return {
    maxAttempts,
    delayMs: (attempt) => Math.min(firstMs * backoff ** (attempt - 1), LONGEST_DELAY_MS),
  };
}

/** Reads the data as drawn, because the schema fills in an absent `backoff` of the parsed value. */
function setsBackoff(data: JsonObject): boolean {
  const retry = ownValue(data, 'retry');
  return isObject(retry) && ownValue(retry, 'backoff') !== undefined;
}
