// Which addresses a project may give for its webhook. decisions.md sections 10 and 11.
import { namesPrivateAddress } from '../../outgoing/address-guard.js';
import type { AppDeps } from '../deps.js';
import { invalidFields } from '../http/errors.js';

/** http or https without user name and password (every member reads the URL). Empty unsets it. */
export function isWebhookUrl(text: string): boolean {
  if (text === '') return true;
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** Throws the 400 for an address that is private by itself; what a name resolves to is checked on each attempt. */
export function refusePrivateWebhook({ config }: AppDeps, url: string | undefined): void {
  if (url === undefined || url === '' || config.allowPrivateNetwork || !namesPrivateAddress(new URL(url))) return;
  throw invalidFields({ webhook_url: ['The address is not public.'] });
}
