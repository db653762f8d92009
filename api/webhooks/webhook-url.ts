// The addresses that a project may use for its webhook.
import { namesRefusedAddress } from '../../outgoing/address-guard.js';
import type { AppDeps } from '../deps.js';
import { invalidFields } from '../http/errors.js';

/** http or https without user name and password, because every member can read the URL. An empty text removes it. */
export function isWebhookUrl(text: string): boolean {
  if (text === '') return true;
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** Throws the 400 for a literal address that is refused; addresses of host names are checked on each attempt. */
export function refusePrivateWebhook({ config }: AppDeps, url: string | undefined): void {
  if (url === undefined || url === '' || !namesRefusedAddress(new URL(url), config.addressRules)) return;
  throw invalidFields({ webhook_url: ['The address is not public.'] });
}
