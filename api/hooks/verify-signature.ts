// Verifies signatures of deliveries: Standard Webhooks 1.0 (symmetric), GitHub's and Stripe's. Each signs the exact
// bytes of the body, which need not be text. The tests compare this code with the libraries of the three schemes. The
// library of Standard Webhooks is not used here, because it decodes the body first and computes the hash in JavaScript.
import { createHmac, timingSafeEqual, randomBytes, type BinaryLike } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { HookVerification } from '../../db/core/tables.js';
import { invalidFields } from '../http/errors.js';
import { createWebhookSecret } from '../projects/webhook-settings.js';

export interface Delivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The time at which the service verifies the delivery, in milliseconds since the epoch. */
  nowMs: number;
}

export interface SignatureRule {
  verify: HookVerification;
  /** The header that holds the signature of `hmac-sha256`. */
  header: string | null;
  /** Null if the hook requires no signature. */
  secret: string | null;
}

/** `stale`: the signature is right, but its time is more than 5 minutes ago or ahead. */
export type Verdict = 'right' | 'wrong' | 'stale';

export const DEFAULT_HEADER = 'X-Hub-Signature-256';
const STRIPE_HEADER = 'stripe-signature';
const TOLERANCE_SECONDS = 5 * 60;
const SECONDS = /^\d{1,12}$/;

export function verifySignature({ verify, header, secret }: SignatureRule, delivery: Delivery): Verdict {
  if (verify === 'none') return 'right';
  if (secret === null) throw new Error('a hook that asks for signatures has no secret');
  if (verify === 'standard-webhooks') return verifyStandard(secret, delivery);
  return isStripe(header) ? verifyStripe(secret, delivery) : verifyPlain(secret, header ?? DEFAULT_HEADER, delivery);
}

/** True if deliveries are signed as Stripe does: a time, and signatures of the time and the body. */
export function isStripe(header: string | null): boolean {
  return header?.toLowerCase() === STRIPE_HEADER;
}

function verifyStandard(secret: string, { headers, body, nowMs }: Delivery): Verdict {
  const { id, time, signatures } = standardHeadersOf(headers);
  if (id === '' || !SECONDS.test(time)) return 'wrong';
  const expected = `v1,${hmac(standardKey(secret), `${id}.${time}.`, body).toString('base64')}`;
  const sent = signatures.split(' ');
  return judge(sent.filter((signature) => isSame(signature, expected)).length > 0, time, nowMs);
}

/**
 * Returns the three headers of Standard Webhooks, each as '' if it is missing. Svix also sends them under its own name.
 * The `svix-` headers count only if all `webhook-` headers are absent, so that nobody in between can add an id that is
 * not signed.
 */
export function standardHeadersOf(headers: IncomingHttpHeaders): { id: string; time: string; signatures: string } {
  const names = ['id', 'timestamp', 'signature'];
  const prefix = names.some((name) => headers[`webhook-${name}`] !== undefined) ? 'webhook' : 'svix';
  const [id = '', time = '', signatures = ''] = names.map((name) => textOf(headers, `${prefix}-${name}`));
  return { id, time, signatures };
}

/** Verifies a signature in the form of GitHub's, whatever its header: `sha256=` and hexadecimal digits. */
function verifyPlain(secret: string, header: string, { headers, body }: Delivery): Verdict {
  const expected = `sha256=${hmac(secret, body).toString('hex')}`;
  return isSame(textOf(headers, header.toLowerCase()).toLowerCase(), expected) ? 'right' : 'wrong';
}

/** Verifies a signature of Stripe: `t=`, and `v1=` once, or several times while a secret is being replaced. */
function verifyStripe(secret: string, { headers, body, nowMs }: Delivery): Verdict {
  const parts = textOf(headers, STRIPE_HEADER).split(',');
  const valuesOf = (name: string): string[] =>
    parts.flatMap((part) => (part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : []));
  const [time = '', ...others] = valuesOf('t');
  if (!SECONDS.test(time) || others.length > 0) return 'wrong';
  const expected = hmac(secret, `${time}.`, body).toString('hex');
  return judge(valuesOf('v1').filter((signature) => isSame(signature, expected)).length > 0, time, nowMs);
}

function judge(isRight: boolean, time: string, nowMs: number): Verdict {
  if (!isRight) return 'wrong';
  return Math.abs(Math.floor(nowMs / 1000) - Number(time)) > TOLERANCE_SECONDS ? 'stale' : 'right';
}

function hmac(key: BinaryLike, ...parts: (string | Buffer)[]): Buffer {
  const sum = createHmac('sha256', key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** Compares texts of the same length in constant time; the length of a signature is no secret. */
function isSame(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Returns '' for a missing header and for `Set-Cookie`. Any other header is one text, even if it came several times.
 */
function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

// Creates and checks the secrets of hooks, with which senders sign.

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

export function createHookSecret(verify: Exclude<HookVerification, 'none'>): string {
  return verify === 'standard-webhooks' ? createWebhookSecret() : randomBytes(SECRET_BYTES).toString('hex');
}

/** Throws 400 for a secret of Standard Webhooks whose key is not base64. The other schemes accept any secret. */
export function checkHookSecret(verify: HookVerification, secret: string): void {
  if (verify === 'standard-webhooks' && !BASE64.test(encodedKey(secret))) {
    throw invalidFields({ secret: ['Enter whsec_ and base64, as the sender shows it.'] });
  }
}

/** Decodes the key in a secret of Standard Webhooks 1.0: base64, with or without the prefix `whsec_`. */
function standardKey(secret: string): Buffer {
  return Buffer.from(encodedKey(secret), 'base64');
}

function encodedKey(secret: string): string {
  return secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
}
