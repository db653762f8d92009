// Signs webhooks: Standard Webhooks 1.0, symmetric scheme.
import { Webhook } from 'standardwebhooks';

/**
 * Returns the headers of one attempt. `id` is the same for all attempts, `time` is the time of this one. Each secret
 * adds a signature.
 */
export function signWebhook(secrets: string[], id: string, time: Date, payload: string): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, payload)).join(' '),
  };
}
