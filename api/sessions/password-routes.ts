// Sets a new password, by the present one or by a link that an administrator has made (docs/use/sign-in.md,
// "Passwords").
import { z } from 'zod';
import { changePassword, findOwnAccount, resetPassword } from '../../db/sessions/passwords-repository.js';
import { findLinkUser } from '../../db/sessions/sign-in-links-repository.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields } from '../http/errors.js';
import type { SessionDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { answerSession, requireSigner, signedInSchema } from './answer-session.js';
import { countSignIn } from './login-throttle.js';
import { nameOf, tryPassword } from './log-in.js';
import { hashPassword } from './password-hash.js';
import { newPasswordField, passwordField } from './password-rules.js';
import { visitOf } from './visit.js';

const defineRoute = routesOf<SessionDeps>();

const MAX_BODY_BYTES = 16 * 1024;

const change = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/password/',
  summary: "Changes the caller's password and ends their other sessions.",
  description:
    'A wrong `current_password` is a 400 on that field and counts as a failed login; too many of them are a 429. Links of ' +
    'the user that nobody has used are ended, too.',
  auth: 'session',
  audit: { action: 'password.changed', target: 'user', commits: 'handler' },
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.object({ current_password: passwordField, new_password: newPasswordField }),
  responses: { 204: nothing },
  async handler(context) {
    const { deps, caller, body, signal, log, audit } = context;
    const { db, signIn } = deps;
    const { userId, sessionId } = caller;
    const { network } = visitOf(context);
    const { hash: before, isKnownNetwork } = await findOwnAccount(db, userId, network);
    const attempt = { name: nameOf(userId), hash: before, isKnownNetwork, password: body.current_password };
    const forgive = await tryPassword(deps, attempt, { network, signal });
    if (forgive === undefined || before === undefined) throw wrongCurrent();
    // The password was right, so the attempt must not stay counted if the rest fails.
    await forgive();
    const hash = await signIn.hashQueue.run(() => hashPassword(body.new_password), { isPreferred: true, signal });
    await audit.change(
      async (trx) => {
        if (!(await changePassword(trx, { userId, before, hash, sessionId }))) throw wrongCurrent();
      },
      { keyOf: () => ({ id: userId }) },
    );
    log.info({ user_id: userId }, 'a password was changed');
    return { status: 204 };
  },
});

const reset = defineRoute({
  method: 'POST',
  path: '/api/v1/auth/password/reset/',
  summary: 'Sets a password by the token of a password link, and signs the user in.',
  description:
    'A link is good once and for 24 hours; a used or older one is a 401. All sessions and all other links of the user end. The ' +
    'answer is that of a login.',
  auth: 'open',
  audit: { action: 'password.changed', target: 'user', via: 'link', commits: 'handler' },
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.object({ token: z.string().min(1).max(200), new_password: newPasswordField }),
  responses: { 200: signedInSchema, 401: detailSchema, 403: detailSchema, 503: detailSchema },
  async handler(context) {
    const { deps, body, signal, log, audit } = context;
    requireSigner(deps);
    const { isSecure, ...visit } = visitOf(context);
    const opened = await countSignIn(deps.metrics, 'link', async () => {
      const userId = await findLinkUser(deps.db, body.token, 'password');
      if (userId === undefined) throw unusableLink();
      audit.concerns(userId);
      const work = () => hashPassword(body.new_password);
      const hash = await deps.signIn.hashQueue.run(work, { isPreferred: true, signal });
      const session = { userId, method: 'link' as const, ...visit };
      return audit.change(
        async (trx) => {
          const reopened = await resetPassword(trx, { token: body.token, hash, session });
          if (reopened === undefined) throw unusableLink();
          return reopened;
        },
        { keyOf: () => ({ id: userId }), userOf: () => userId },
      );
    });
    log.info({ session_id: opened.sessionId, user_id: opened.userId }, 'a password was set by a link');
    return answerSession(deps, opened, isSecure);
  },
});

export const passwordRoutes: Route<SessionDeps>[] = [change, reset];

function wrongCurrent(): ApiError {
  return invalidFields({ current_password: ['This is not your password.'] });
}

function unusableLink(): ApiError {
  const message = 'The link was used before, has been replaced, or is more than 24 hours old.';
  return new ApiError(401, 'authentication_failed', message, { headers: { 'WWW-Authenticate': 'Bearer realm="api"' } });
}
