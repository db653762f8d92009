// Reads and writes the cookies of signing in. Scripts cannot read them, and other sites cannot send the refresh cookie.
import type { IncomingHttpHeaders } from 'node:http';

export const AUTH_PATH = '/api/v1/auth/';
const REFRESH = 'wfa_refresh';

interface CookieOptions {
  isSecure: boolean;
  maxAgeSeconds: number;
}

interface Cookie extends CookieOptions {
  name: string;
  value: string;
  path: string;
  sameSite: 'Strict' | 'Lax';
}

/**
 * A browser accepts a cookie with this prefix over TLS only, so that nobody who can answer for the host without TLS can
 * set one. `__Host-` would require the path `/`, with which every request would carry the cookie.
 */
const SECURE_PREFIX = '__Secure-';

function toName(name: string, isSecure: boolean): string {
  return isSecure ? `${SECURE_PREFIX}${name}` : name;
}

/** The value must need no escapes. */
export function toCookie({ name, value, path, sameSite, isSecure, maxAgeSeconds }: Cookie): string {
  const named = `${toName(name, isSecure)}=${value}`;
  const parts = [named, `Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', `SameSite=${sameSite}`];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/**
 * `isSecure`: true if the browser's connection is encrypted. Then only a cookie with `SECURE_PREFIX` is read, otherwise
 * only one without it.
 */
export function readCookie({ cookie = '' }: IncomingHttpHeaders, name: string, isSecure: boolean): string | undefined {
  const start = `${toName(name, isSecure)}=`;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}

export function refreshCookie(token: string, options: CookieOptions): string {
  return toCookie({ name: REFRESH, value: token, path: AUTH_PATH, sameSite: 'Strict', ...options });
}

export function clearedRefreshCookie(isSecure: boolean): string {
  return refreshCookie('', { isSecure, maxAgeSeconds: 0 });
}

export function readRefreshCookie(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  return readCookie(headers, REFRESH, isSecure) || undefined;
}
