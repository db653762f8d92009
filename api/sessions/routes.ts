// Signs users in and out, and refreshes their sessions. docs/use/sign-in.md.
import { z } from 'zod';
import { openSession } from '../../db/sessions/sessions-repository.js';
import { endSessionOfToken } from '../../db/sessions/refresh-repository.js';
import { findLinkUser, redeemLink } from '../../db/sessions/sign-in-links-repository.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError } from '../http/errors.js';
import type { SessionDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { answerSession, requireSigner, signedInSchema } from './answer-session.js';
import { countSignIn, signedIn } from './login-throttle.js';
import { logIn } from './log-in.js';
import { refuseForeignOrigin } from './own-origin.js';
import { passwordField } from './password-rules.js';
import { clearedRefreshCookie, readRefreshCookie } from './refresh-cookie.js';
import { refreshSession } from './refresh-session.js';
import { visitOf } from './visit.js';

const defineRoute = routesOf<SessionDeps>();

const MAX_BODY_BYTES = 16 * 1024;
const signInErrors = { 401: detailSchema, 403: detailSchema, 503: detailSchema };

const login = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/login/',
  summary: 'Signs a user in by e-mail address and password.',
  description:
    'The answer sets the refresh cookie. After five failed logins in a minute for an account from one address the ' +
    'answer is 429. While many logins for an account fail, or many are being checked, the first attempt from an address ' +
    'that is new to the account is a 429 too, with a `Retry-After` of half a minute.',
  auth: 'open',
  audit: { action: 'login.succeeded', refused: 'login.refused', target: 'user', commits: 'handler' },
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.object({ email: z.string().trim().min(1).max(320), password: passwordField }),
  responses: { 200: signedInSchema, ...signInErrors, 429: detailSchema },
  async handler(context) {
    const { deps, body, signal, log, audit } = context;
    requireSigner(deps);
    const visit = visitOf(context);
    const opened = await countSignIn(deps.metrics, 'password', () => logIn(deps, body, { ...visit, signal, audit }));
    log.info({ session_id: opened.sessionId, user_id: opened.userId }, 'signed in by password');
    return answerSession(deps, opened, visit.isSecure);
  },
});

const link = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/link/',
  summary: 'Signs a user in by the token of a sign-in link.',
  description: 'A link is good once and for ten minutes. The answer is that of a login.',
  auth: 'open',
  audit: { action: 'login.succeeded', refused: 'login.refused', target: 'user', via: 'link', commits: 'handler' },
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.object({ token: z.string().min(1).max(200) }),
  responses: { 200: signedInSchema, ...signInErrors },
  async handler(context) {
    const { deps, body, log, audit } = context;
    requireSigner(deps);
    const { isSecure, ...visit } = visitOf(context);
    const opened = await countSignIn(deps.metrics, 'link', async () => {
      const userId = await findLinkUser(deps.db, body.token, 'sign-in');
      const session = userId === undefined ? undefined : { userId, method: 'link' as const, ...visit };
      // One transaction uses up the link and opens the session. If the session is not opened, the link stays usable.
      return audit.change(async (trx) => {
        const redeemed = session && (await openSession(trx, session, () => redeemLink(trx, body.token)));
        if (redeemed === undefined) throw unauthorized('The link was used before, or is more than ten minutes old.');
        return redeemed;
      }, signedIn);
    });
    log.info({ session_id: opened.sessionId, user_id: opened.userId }, 'signed in by a link');
    return answerSession(deps, opened, isSecure);
  },
});

const refresh = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/refresh/',
  summary: 'Exchanges the refresh cookie for a new one and a new access token.',
  description:
    'Each cookie is good once: a used one is refused and ends its session. Of several requests at the same moment ' +
    'each gets an access token, and the first one the new cookie. Pages of other origins are refused.',
  auth: 'open',
  audit: { action: 'session.refreshed', target: 'session', records: 'refusals' },
  responses: { 200: signedInSchema, ...signInErrors },
  async handler(context) {
    const { deps, log, requestHeaders, audit } = context;
    refuseForeignOrigin(requestHeaders, deps.config.publicUrl);
    requireSigner(deps);
    const { isSecure, network } = visitOf(context);
    const token = readRefreshCookie(requestHeaders, isSecure);
    if (token === undefined) throw unauthorized('There is no session: sign in.', 'not_authenticated');
    const session = await refreshSession({ db: deps.db, log, doer: audit.doer }, token, network);
    if (session !== undefined) return answerSession(deps, session, isSecure);
    throw unauthorized('The session has ended: sign in again.', 'authentication_failed', {
      'Set-Cookie': clearedRefreshCookie(isSecure),
    });
  },
});

const logout = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/logout/',
  summary: 'Ends the session of the refresh cookie, if there is one.',
  description: 'Its access tokens end with it. Pages of other origins are refused.',
  auth: 'open',
  audit: { action: 'session.ended', target: 'session', commits: 'handler' },
  responses: { 204: nothing, 403: detailSchema, 503: detailSchema },
  async handler(context) {
    const { deps, requestHeaders, audit } = context;
    refuseForeignOrigin(requestHeaders, deps.config.publicUrl);
    const { isSecure } = visitOf(context);
    const token = readRefreshCookie(requestHeaders, isSecure);
    if (token !== undefined) {
      await audit.change((trx) => endSessionOfToken(trx, token), {
        keyOf: (ended) => ended && { id: ended.sessionId },
        userOf: (ended) => ended?.userId,
      });
    }
    return { status: 204, headers: { 'Set-Cookie': clearedRefreshCookie(isSecure) } };
  },
});

export const signInRoutes: Route<SessionDeps>[] = [login, link, refresh, logout];

function unauthorized(
  message: string,
  code: 'authentication_failed' | 'not_authenticated' = 'authentication_failed',
  headers: Record<string, string> = {},
): ApiError {
  return new ApiError(401, code, message, { headers: { 'WWW-Authenticate': 'Bearer realm="api"', ...headers } });
}
