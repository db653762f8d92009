// Validates the address of a project's webhook, and creates secrets for signing by Standard Webhooks.
import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../../db/core/secret-box.js';
import { holdsCredentials } from '../../graph/address-credentials.js';
import { namesRefusedAddress } from '../../outgoing/refused-addresses.js';
import type { ProjectDeps } from './deps.js';
import { invalidFields } from '../http/errors.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/**
 * Returns a secret of the symmetric scheme of Standard Webhooks 1.0, for the webhook of a project, or for a hook whose
 * deliveries are signed in this way: `whsec_` and 256 random bits in base64.
 */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Creates the secret of a project's webhook, and returns it sealed. */
export function sealNewSecret(secretBox: SecretBox, projectId: number): Buffer {
  return secretBox.seal(createWebhookSecret(), 'webhook-secret', projectId);
}

/**
 * Returns true for an http or https URL without a user name or a password, because every member can read the URL, and
 * for an empty text, which removes the URL.
 */
export function isWebhookUrl(text: string): boolean {
  if (text === '') return true;
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return false;
  return !holdsCredentials(text);
}

/** The error message for a text that fails `isWebhookUrl`. */
export function whyRefused(text: string): string {
  if (!holdsCredentials(text)) return 'Enter a valid URL.';
  return 'Enter an address without a user name and password: events are signed, and credentials belong in connections.';
}

/** Throws 400 for a refused IP address or `localhost`; the addresses of other names are checked on each attempt. */
export function refusePrivateWebhook({ config }: Pick<ProjectDeps, 'config'>, url: string | undefined): void {
  if (url === undefined || url === '' || !namesRefusedAddress(new URL(url), config.addressRules)) return;
  throw invalidFields({ webhook_url: ['The address is not public.'] });
}
