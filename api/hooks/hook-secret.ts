// The secrets of hooks: what a sender signs with.
import { randomBytes } from 'node:crypto';
import type { HookVerification } from '../../db/core/tables.js';
import { invalidFields } from '../http/errors.js';
import { createWebhookSecret } from '../webhooks/webhook-secret.js';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

/** A new secret in the form that senders of the scheme take. */
export function createHookSecret(verify: Exclude<HookVerification, 'none'>): string {
  return verify === 'standard-webhooks' ? createWebhookSecret() : randomBytes(SECRET_BYTES).toString('hex');
}

/** Throws the 400 for a secret that no sender of the scheme can have. */
export function checkHookSecret(verify: HookVerification, secret: string): void {
  if (verify === 'standard-webhooks' && !BASE64.test(encodedKey(secret))) {
    throw invalidFields({ secret: ['Enter whsec_ and base64, as the sender shows it.'] });
  }
}

/** The key of Standard Webhooks 1.0: base64, with or without its prefix. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(encodedKey(secret), 'base64');
}

function encodedKey(secret: string): string {
  return secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
}
