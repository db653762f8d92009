// `Idempotency-Key` on run and re-run: a request that is repeated starts one run. decisions.md section 6.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findKeyedRun, type RequestKey } from '../../db/runs/idempotency-repository.js';
import type { NodeErrors } from '../../graph/validate.js';
import type { RunInput } from '../../graph/input.js';
import { inKeyOrder } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import type { AppDeps } from '../deps.js';
import { ApiError } from '../http/errors.js';
import { acceptedEnvelope, invalidNodesEnvelope, type Envelope } from './run-envelope.js';

const MAX_KEY_CHARACTERS = 255;

/** An empty key counts as none. */
export const idempotencyHeaders = z.object({
  'idempotency-key': z.string().trim().max(MAX_KEY_CHARACTERS).optional(),
});

export interface KeyedRequest extends RequestKey {
  /** Tells this request from another one with the same key. */
  fingerprint: string;
}

interface StartRequest {
  workflowId: number;
  /** Only for a re-run. */
  originalRunId?: string;
  /** As sent; undefined when none was. */
  input: RunInput | undefined;
}

/** Undefined without a key. */
export function toKeyedRequest(
  userId: number,
  headers: z.infer<typeof idempotencyHeaders>,
  { workflowId, originalRunId, input }: StartRequest,
): KeyedRequest | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  const request = writeJson(inKeyOrder([workflowId, originalRunId ?? null, input ?? null]));
  return { userId, key, fingerprint: createHash('sha256').update(request).digest('hex') };
}

export function sealFingerprint({ secretBox }: AppDeps, { fingerprint }: KeyedRequest): Buffer {
  return secretBox.seal(fingerprint, 'idempotency-key');
}

/** What the first request with this key was answered; undefined when this is the first. Throws 400 when they differ. */
export async function findFirstAnswer(deps: AppDeps, request: KeyedRequest): Promise<Envelope | undefined> {
  const first = await findKeyedRun(deps.db, request);
  if (first === undefined) return undefined;
  if (deps.secretBox.open(first.requestEnc, 'idempotency-key') !== request.fingerprint) {
    throw new ApiError(400, 'idempotency_mismatch', 'The Idempotency-Key was used before with another request.');
  }
  if (first.nodeErrors === null) return acceptedEnvelope(first.runId);
  return invalidNodesEnvelope(first.runId, JSON.parse(first.nodeErrors) as NodeErrors);
}
