// The sessions of a user. docs/use/sign-in.md, "Sessions".
import { z } from 'zod';
import { endSession, listSessions } from '../../db/sessions/sessions-repository.js';
import { nothing } from '../http/answer-schemas.js';
import { notFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import type { SessionDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<SessionDeps>();

export const sessionSchema = z.object({
  id: z.uuid(),
  method: z.enum(['password', 'link', 'oidc']).describe('How the user signed in'),
  network: z.string().describe('Where it was used last: an IPv4 address, or the /64 of an IPv6 address'),
  user_agent: z.string().describe('As the browser calls itself, cut to 255 characters'),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().describe('The sign-in or the last refresh'),
  expires_at: z.iso.datetime(),
  is_current: z.boolean().describe('Whether the request belongs to it'),
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/auth/sessions/',
  summary: "Lists the caller's live sessions, the one that was used last first.",
  auth: 'session',
  query: z.object(pageQuery(0)),
  responses: { 200: envelopeOf(sessionSchema) },
  async handler({ deps, caller, query }) {
    const { total, sessions } = await listSessions(deps.db, { userId: caller.userId, ...toWindow(query) });
    const items = sessions.map((session) => ({ ...session, is_current: session.id === caller.sessionId }));
    return answerPage(query, total, items);
  },
});

const end = defineRoute({
  method: 'DELETE',
  path: '/api/v1/auth/sessions/:session_id/',
  summary: 'Ends a session of the caller, and with it its access tokens.',
  auth: 'session',
  audit: { action: 'session.ended', target: 'session', id: 'session_id' },
  params: z.object({ session_id: uuid }),
  responses: { 204: nothing },
  async handler({ deps, caller, params }) {
    if (!(await endSession(deps.db, caller.userId, params.session_id))) throw notFound();
    return { status: 204 };
  },
});

export const sessionRoutes: Route<SessionDeps>[] = [list, end];
