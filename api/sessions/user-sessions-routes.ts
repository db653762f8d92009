// Administrators manage how other users sign in. The routes need a session, because a stolen API key must neither sign
// in as somebody else nor show the networks from which people sign in.
import { z } from 'zod';
import { findUser } from '../../db/users/users-repository.js';
import { endSessionsOf, holdActiveUser, listSessions } from '../../db/sessions/sessions-repository.js';
import { createPasswordLink } from '../../db/sessions/sign-in-links-repository.js';
import type { Db } from '../../db/core/client.js';
import { badRequestSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams } from '../http/path-ids.js';
import type { SessionDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { requireSigner } from './answer-session.js';
import { sessionSchema } from './session-routes.js';

const defineRoute = routesOf<SessionDeps>();

/** The console's page for a password link. The token is in the fragment, which no log receives. */
const PASSWORD_PAGE = '/password';

const link = defineRoute({
  method: 'POST',
  path: '/api/v1/users/:id/password-link/',
  summary: 'Makes a link by which a user sets a password, for administrators.',
  description:
    'The link is good once and for 24 hours, and signs the user in. 400, code `user_inactive` or `no_email`: nobody could ' +
    'sign in by the password.',
  auth: 'session',
  audit: { action: 'password_link.created', target: 'user', id: 'id' },
  isForAdministrators: true,
  params: idParams,
  responses: {
    201: z.object({ url: z.url().describe('To be handed to the user'), expires_at: z.iso.datetime() }),
    400: badRequestSchema,
  },
  async handler({ deps, params }) {
    requireSigner(deps);
    const user = orNotFound(await findUser(deps.db, params.id));
    if (user.email === null) {
      throw new ApiError(
        400,
        'no_email',
        'The user has no e-mail address, and nobody signs in by a password without one.',
      );
    }
    const isActive = await holdActiveUser(deps.db, user.id);
    const made = isActive ? await createPasswordLink(deps.db, user.id) : undefined;
    if (made === undefined) throw new ApiError(400, 'user_inactive', 'The user is not active.');
    const url = `${deps.config.publicUrl}${PASSWORD_PAGE}#token=${made.token}`;
    return { status: 201, body: { url, expires_at: made.expiresAt.toISOString() } };
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/users/:id/sessions/',
  summary: 'Lists the live sessions of a user, for administrators, the one that was used last first.',
  auth: 'session',
  isForAdministrators: true,
  params: idParams,
  query: z.object(pageQuery(0)),
  responses: { 200: envelopeOf(sessionSchema) },
  async handler({ deps, caller, params, query }) {
    await requireUser(deps.db, params.id);
    const { total, sessions } = await listSessions(deps.db, { userId: params.id, ...toWindow(query) });
    const items = sessions.map((session) => ({ ...session, is_current: session.id === caller.sessionId }));
    return answerPage(query, total, items);
  },
});

const end = defineRoute({
  method: 'DELETE',
  path: '/api/v1/users/:id/sessions/',
  summary: 'Ends all sessions of a user, and with them their access tokens, for administrators.',
  auth: 'session',
  audit: { action: 'session.ended', target: 'user', id: 'id' },
  isForAdministrators: true,
  params: idParams,
  responses: { 204: nothing },
  async handler({ deps, params }) {
    await requireUser(deps.db, params.id);
    await endSessionsOf(deps.db, params.id);
    return { status: 204 };
  },
});

export const userSessionRoutes: Route<SessionDeps>[] = [link, list, end];

async function requireUser(db: Db, userId: number): Promise<void> {
  if ((await findUser(db, userId)) === undefined) throw notFound();
}
