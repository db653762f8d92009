import type { IncomingHttpHeaders } from 'node:http';
import { foreignOrigin } from '../http/errors.js';

/**
 * Throws 403 if a browser reports that a page of another origin sends this request. SameSite=Strict does not
 * distinguish two ports or subdomains of one site. A request with neither `Origin` nor `Sec-Fetch-Site` passes, because
 * it comes from a program other than a browser.
 */
export function refuseForeignOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwnSite && (origin === undefined || isOwn(origin, host, publicUrl))) return;
  throw foreignOrigin();
}

/** Behind a proxy, only PUBLIC_URL reveals the scheme of the address. */
function isOwn(origin: string, host: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { origin: sentOrigin, host: sentHost, protocol } = new URL(origin);
  if (sentOrigin === new URL(publicUrl).origin) return true;
  return (protocol === 'http:' || protocol === 'https:') && sentHost === host.toLowerCase();
}
