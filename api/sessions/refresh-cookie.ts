// Cookies of signing in. Scripts cannot read them, and other sites cannot send the refresh cookie.
import type { IncomingHttpHeaders } from 'node:http';

export const AUTH_PATH = '/api/v1/auth/';
const REFRESH = 'wfa_refresh';

export interface CookieOptions {
  isSecure: boolean;
  maxAgeSeconds: number;
}

interface Cookie extends CookieOptions {
  name: string;
  value: string;
  path: string;
  sameSite: 'Strict' | 'Lax';
}

/** The value must need no escapes. */
export function toCookie({ name, value, path, sameSite, isSecure, maxAgeSeconds }: Cookie): string {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', `SameSite=${sameSite}`];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

export function readCookie({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export function refreshCookie(token: string, options: CookieOptions): string {
  return toCookie({ name: REFRESH, value: token, path: AUTH_PATH, sameSite: 'Strict', ...options });
}

export function clearedRefreshCookie(isSecure: boolean): string {
  return refreshCookie('', { isSecure, maxAgeSeconds: 0 });
}

export function readRefreshCookie(headers: IncomingHttpHeaders): string | undefined {
  return readCookie(headers, REFRESH) || undefined;
}
