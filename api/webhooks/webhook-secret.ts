// The secrets of webhooks and what they sign: Standard Webhooks 1.0, symmetric scheme.
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { SecretBox } from '../../db/core/secret-box.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** `whsec_` and 256 random bits in base64. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** A secret that nobody has seen, for a webhook that is switched on. */
export function sealNewSecret(secretBox: SecretBox): Buffer {
  return secretBox.seal(createWebhookSecret(), 'webhook-secret');
}

/** The headers of one attempt: `id` stays the same over attempts, `time` is the attempt's; a signature for each secret. */
export function signWebhook(secrets: string[], id: string, time: Date, payload: string): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, payload)).join(' '),
  };
}
