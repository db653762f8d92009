// Identifies the event of a delivery. Two deliveries to a hook with the same id within 24 hours start one run.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { AddressedHook } from '../../db/hooks/hooks-repository.js';
import type { RunInput } from '../../graph/input.js';
import { isObject } from '../../graph/json.js';
import type { KeyedRequest } from '../runs/idempotency.js';
import { isStripe, standardHeadersOf } from './verify-signature.js';

/**
 * The first header that is not empty counts. Its name is part of the id, because different senders may use the same
 * value.
 */
const ID_HEADERS = ['webhook-id', 'svix-id', 'x-github-delivery', 'idempotency-key'] as const;

export const eventHeaders = z.object({
  'webhook-id': z.string().optional(),
  'svix-id': z.string().optional(),
  'x-github-delivery': z.string().optional(),
  'idempotency-key': z.string().optional(),
});

type SignedHook = Pick<AddressedHook, 'id' | 'authorId' | 'verify' | 'header'>;

/**
 * Returns undefined for a delivery without an id, because such a delivery is never taken for a repeat. The key belongs
 * to the hook's author. It contains a line break, so that it never equals a key that the author sends as
 * `Idempotency-Key`: a header cannot contain a line break. The bodies of deliveries with the same id are not compared:
 * the first delivery counts.
 */
export function toKeyedDelivery(
  hook: SignedHook,
  headers: IncomingHttpHeaders,
  input: RunInput,
): KeyedRequest | undefined {
  const id = eventIdOf(hook, headers, input);
  if (id === undefined) return undefined;
  const hash = createHash('sha256').update(id).digest('hex');
  return { userId: hook.authorId, key: `hook ${hook.id}\n${hash}`, fingerprint: 'hook' };
}

/**
 * If the sender signs an id, only that id counts. Anybody between the sender and the service can add a header, and
 * would make one event start two runs, or keep another event from starting any.
 */
function eventIdOf({ verify, header }: SignedHook, headers: IncomingHttpHeaders, input: RunInput): string | undefined {
  if (verify === 'hmac-sha256' && isStripe(header)) return stripeEventId(input);
  // The signature covers this header, under either of its two names.
  if (verify === 'standard-webhooks') return `webhook-id: ${standardHeadersOf(headers).id}`;
  for (const name of ID_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return `${name}: ${value}`;
  }
  return undefined;
}

/** Stripe sends the id of an event only in the body. */
function stripeEventId(input: RunInput): string | undefined {
  if (!isObject(input)) return undefined;
  const { object, id } = input;
  return object === 'event' && typeof id === 'string' && id !== '' ? `event: ${id}` : undefined;
}
