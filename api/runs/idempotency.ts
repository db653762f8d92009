// The idempotency keys of requests that start runs, from the header `Idempotency-Key`, or made for a tool call or the
// delivery of a hook: a repeated request starts only one run. docs/use/api.md.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findKeyedRun, type RequestKey } from '../../db/runs/idempotency-repository.js';
import type { NodeErrors } from '../../graph/validate.js';
import type { RunInput } from '../../graph/input.js';
import { inKeyOrder } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import type { RunDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { acceptedEnvelope, invalidNodesEnvelope, type Envelope } from '../envelope/run-envelope.js';

const MAX_KEY_CHARACTERS = 255;

/** An empty key counts as absent. */
export const idempotencyHeaders = z.object({
  'idempotency-key': z.string().trim().max(MAX_KEY_CHARACTERS).optional(),
});

export interface KeyedRequest extends RequestKey {
  /**
   * The hash of the request, which reveals a different request with the same key. A constant for deliveries of hooks,
   * which are not compared.
   */
  fingerprint: string;
}

interface StartRequest {
  workflowId: number;
  /** Present only for re-run and resume. */
  originalRunId?: string;
  /** The input as sent; undefined if none was sent, or `options` contain it. */
  input?: RunInput | undefined;
  /**
   * The other fields that identify the request, such as the options of a resume, or the names and hashes of uploaded
   * files.
   */
  options?: object | undefined;
}

export function toKeyedRequest(
  userId: number,
  headers: z.infer<typeof idempotencyHeaders>,
  { workflowId, originalRunId, input, options }: StartRequest,
): KeyedRequest | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  const asked = [workflowId, originalRunId ?? null, input ?? null, ...(options === undefined ? [] : [options])];
  const request = writeJson(inKeyOrder(asked));
  return { userId, key, fingerprint: createHash('sha256').update(request).digest('hex') };
}

export function sealFingerprint(
  { secretBox }: Pick<RunDeps, 'secretBox'>,
  { fingerprint, userId, key }: KeyedRequest,
): Buffer {
  return secretBox.seal(fingerprint, 'idempotency-key', userId, key);
}

/** Returns the sealed empty fingerprint of a key that is withdrawn before it has started a run. */
export function sealWithdrawal({ secretBox }: Pick<RunDeps, 'secretBox'>, { userId, key }: RequestKey): Buffer {
  return secretBox.seal('', 'idempotency-key', userId, key);
}

/**
 * Returns the answer to the first request with this key. Undefined if none has stored a run in the last 24 hours, or
 * the key was withdrawn. Throws 400 if the two requests differ.
 */
export async function findFirstAnswer(
  deps: Pick<RunDeps, 'db' | 'secretBox'>,
  request: KeyedRequest,
): Promise<Envelope | undefined> {
  const first = await findKeyedRun(deps.db, request);
  if (first === undefined) return undefined;
  if (deps.secretBox.open(first.requestEnc, 'idempotency-key', request.userId, request.key) !== request.fingerprint) {
    throw new ApiError(400, 'idempotency_mismatch', 'The Idempotency-Key was used before with another request.');
  }
  if (first.nodeErrors === null) return acceptedEnvelope(first.runId);
  return invalidNodesEnvelope(first.runId, JSON.parse(first.nodeErrors) as NodeErrors);
}

export function repeatHeaders(isRepeat: boolean): Record<string, string> {
  return isRepeat ? { 'Idempotent-Replayed': 'true' } : {};
}
