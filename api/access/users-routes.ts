import { z } from 'zod';
import { updateUser } from '../../db/cascades/update-user.js';
import { createUser, findUser, isEmailTaken, pageOfUsers, type UserRow } from '../../db/users/users-repository.js';
import { ApiError, invalidFields, orNotFound, permissionDenied } from '../http/errors.js';
import { emailField } from '../http/field-errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams } from '../http/path-ids.js';
import { queryText } from '../http/query-values.js';
import type { AccessDeps } from './deps.js';
import { routesOf, type Caller, type Route } from '../http/route.js';

const defineRoute = routesOf<AccessDeps>();

const meSchema = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string().nullable(),
  api_access: z.boolean().describe("Whether the user's API keys are admitted."),
  is_admin: z
    .boolean()
    .describe(
      'May manage users, list all pools, and of every project change the pools and read the audit log. ' +
        'It gives no other access to the projects of others.',
    ),
});

const userSchema = meSchema.extend({
  is_active: z.boolean().describe('False: keys, tokens and sign-ins of the user are refused.'),
  created_at: z.iso.datetime(),
});

function toMe({ id, name, email, api_access, is_admin }: UserRow): z.infer<typeof meSchema> {
  return { id, name, email, api_access, is_admin };
}

function toUser(user: UserRow): z.infer<typeof userSchema> {
  return { ...toMe(user), is_active: user.is_active, created_at: user.created_at.toISOString() };
}

// Manages users, for administrators. Administrators change only the pools, and read only the audit log, of projects to
// which they do not belong.

const usersPath = '/api/v1/users/';
const fields = {
  name: z.string().trim().min(1).max(255),
  email: emailField().nullable(),
  api_access: z.boolean(),
  is_admin: z.boolean(),
  is_active: z.boolean(),
  /** Refuses passwords instead of ignoring them: only the user chooses the password, by a link. */
  password: z
    .never({ error: 'A user sets the password by the link that POST /users/{id}/password-link/ makes.' })
    .optional(),
};

const list = defineRoute({
  method: 'GET',
  path: usersPath,
  summary: 'Lists all users, for administrators. `search` looks into names and e-mail addresses.',
  isForAdministrators: true,
  query: z.object({ ...pageQuery(1), search: queryText }),
  responses: { 200: envelopeOf(userSchema) },
  async handler({ deps, query }) {
    const { total, users } = await pageOfUsers(deps.db, { search: query.search, ...toWindow(query) });
    return answerPage(query, total, users.map(toUser));
  },
});

const create = defineRoute({
  method: 'POST',
  path: usersPath,
  summary: 'Creates a user, for administrators. An administrator is made in a session only.',
  audit: { action: 'user.created', target: 'user', makes: 'id' },
  isForAdministrators: true,
  body: z.object({
    name: fields.name,
    email: fields.email.default(null),
    api_access: fields.api_access.default(true),
    is_admin: fields.is_admin.default(false),
    password: fields.password,
  }),
  responses: { 201: userSchema },
  async handler({ deps, caller, body }) {
    if (body.is_admin) requireSession(caller);
    const { name, email, api_access: apiAccess, is_admin: isAdmin } = body;
    const created = createUser(deps.db, { name, email: email ?? undefined, apiAccess, isAdmin });
    return { status: 201, body: toUser(await created.catch(refuseUsedEmail)) };
  },
});

const update = defineRoute({
  method: 'PATCH',
  path: '/api/v1/users/:id/',
  summary: 'Changes a user, for administrators. `email`, `is_admin` and `is_active` change in a session only.',
  description:
    '`is_active: false` ends the sessions and streams of the user, refuses their keys, logins and links (401), hides their ' +
    'hooks (404) and pauses their schedules; runs in flight go on. Active again, keys and hooks are good again, and the ' +
    'schedules stay paused. The last active administrator stays both: 400, code `last_admin`.',
  audit: { action: 'user.changed', target: 'user', id: 'id' },
  isForAdministrators: true,
  params: idParams,
  body: z.object(fields).partial(),
  responses: { 200: userSchema },
  async handler({ deps, caller, params, body }) {
    const { password: _, ...changes } = body;
    const { email, is_admin: isAdmin, is_active: isActive } = changes;
    if ([email, isAdmin, isActive].some((value) => value !== undefined)) requireSession(caller);
    const user = orNotFound(await updateUser(deps.db, params.id, changes).catch(refuseUsedEmail));
    if (user === 'last_admin') throw new ApiError(400, 'last_admin', 'Nobody else is an active administrator.');
    return { status: 200, body: toUser(user) };
  },
});

/**
 * The thief of a key could otherwise create administrators, redirect somebody's sign-in to another person, or lock
 * people out.
 */
function requireSession({ credential }: Caller): void {
  if (credential !== 'session') throw permissionDenied('This needs a session; an API key is not enough.');
}

function refuseUsedEmail(error: unknown): never {
  throw isEmailTaken(error) ? invalidFields({ email: ['Another user has this e-mail address.'] }) : error;
}

const readMe = defineRoute({
  method: 'GET',
  path: '/api/v1/me/',
  summary: 'Returns the user of the credentials.',
  keyScope: 'run',
  responses: { 200: meSchema },
  async handler({ deps, caller }) {
    const user = orNotFound(await findUser(deps.db, caller.userId));
    return { status: 200, body: toMe(user) };
  },
});

export const userRoutes: Route<AccessDeps>[] = [readMe, list, create, update];
