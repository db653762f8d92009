import type { IncomingHttpHeaders } from 'node:http';
import { foreignOrigin } from '../http/errors.js';

/**
 * Throws the 403 when a browser says that a page of another origin sends this request. SameSite=Strict does not tell two
 * ports or subdomains of one site apart. A program that is no browser says nothing.
 */
export function refuseForeignOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwnSite && (origin === undefined || isOwn(origin, host, publicUrl))) return;
  throw foreignOrigin();
}

/** The scheme of an address behind a proxy is known from PUBLIC_URL only. */
function isOwn(origin: string, host: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { origin: given, host: givenHost, protocol } = new URL(origin);
  if (given === new URL(publicUrl).origin) return true;
  return (protocol === 'http:' || protocol === 'https:') && givenHost === host.toLowerCase();
}
