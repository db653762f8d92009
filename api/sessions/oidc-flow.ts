// Binds an answer of the issuer to the browser that asked, by a random text in a cookie. State, nonce and PKCE verifier
// are derived from that text. So nothing is stored before the sign-in succeeds, and a state works only in the browser
// that it was made for.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { randomToken } from '../../db/core/random-token.js';
import { AUTH_PATH, readCookie, toCookie } from './refresh-cookie.js';

export const OIDC_PATH = `${AUTH_PATH}oidc/`;
const COOKIE = 'wfa_oidc';
const LIFETIME_SECONDS = 600;
const STATE = /^(\d{10})\.([\w-]{22})\.([\w-]{43})$/;

export interface OidcFlow {
  state: string;
  nonce: string;
  verifier: string;
}

/** `secret`: from the browser's cookie if it has one, so that flows in two tabs can both finish. */
export function startSignInFlow(secret: string, nowMs = Date.now()): OidcFlow {
  const expiresAt = String(Math.floor(nowMs / 1000) + LIFETIME_SECONDS);
  const random = randomBytes(16).toString('base64url');
  return toFlow(secret, `${expiresAt}.${random}`);
}

/** Returns undefined for a state that was not made for this browser, or more than ten minutes ago. */
export function resumeFlow(secret: string, state: string, nowMs = Date.now()): OidcFlow | undefined {
  const [, expiresAt, random, mac = ''] = STATE.exec(state) ?? [];
  if (mac === '' || Number(expiresAt) * 1000 < nowMs) return undefined;
  const flow = toFlow(secret, `${expiresAt}.${random}`);
  return timingSafeEqual(Buffer.from(flow.state), Buffer.from(state)) ? flow : undefined;
}

function toFlow(secret: string, part: string): OidcFlow {
  const derive = (use: string): string => createHmac('sha256', secret).update(`${use} ${part}`).digest('base64url');
  return { state: `${part}.${derive('state')}`, nonce: derive('nonce'), verifier: derive('verifier') };
}

/** Returns the browser's present secret, or a new one. */
export function flowSecret(headers: IncomingHttpHeaders, isSecure: boolean): string {
  return readFlowSecret(headers, isSecure) ?? randomToken();
}

export function readFlowSecret(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  const value = readCookie(headers, COOKIE, isSecure);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** Lax, because the browser would not send a Strict cookie when the issuer's pages redirect it to this service. */
export function flowCookie(secret: string, isSecure: boolean): string {
  const [sameSite, maxAgeSeconds] = ['Lax', LIFETIME_SECONDS] as const;
  return toCookie({ name: COOKIE, value: secret, path: OIDC_PATH, sameSite, isSecure, maxAgeSeconds });
}
