// Manages API keys. Every route needs a session, so that a stolen key can neither list nor create keys.
import { z } from 'zod';
import {
  createKeyBelowLimit,
  deleteKey,
  findKey,
  pageOfKeys,
  updateKey,
  type KeyListing,
} from '../../db/access/keys-repository.js';
import { findProjectRole } from '../../db/projects/members-repository.js';
import type { AccessDeps } from './deps.js';
import { nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, notFound, orNotFound, permissionDenied, refusing } from '../http/errors.js';
import { futureField, integerField } from '../http/field-errors.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { idParams, MAX_ID } from '../http/path-ids.js';
import { routesOf, type Caller, type Route } from '../http/route.js';
import { isAdministrator, requireAdministrator } from './authorize.js';

const defineRoute = routesOf<AccessDeps>();

const keyScope = z.enum(['full', 'run', 'read']);

const keySchema = z.object({
  id: z.int(),
  label: z.string(),
  hint: z.string().describe('The last four characters of the key.'),
  project: z.int().nullable().describe('The only project that the key reaches; null: all of its user.'),
  scope: keyScope.describe(
    '`run`: run workflows and answer what runs ask; `read`: GET, and tools of `/mcp/build` that change nothing; else ' +
      '403 `key_scope`.',
  ),
  expires_at: z.iso.datetime().nullable().describe('From then on the key is unknown (401); null: never.'),
  rate_limit: z.int().nullable().describe('Requests a minute; null: the default.'),
  created_at: z.iso.datetime(),
});

const newKeySchema = keySchema.extend({ api_key: z.string().describe('The key itself, shown only here.') });

function toKey(key: KeyListing): z.infer<typeof keySchema> {
  return {
    id: key.id,
    label: key.label,
    hint: key.hint,
    project: key.projectId,
    scope: key.scope,
    expires_at: key.expiresAt?.toISOString() ?? null,
    rate_limit: key.rateLimit,
    created_at: key.createdAt.toISOString(),
  };
}

const keysPath = '/api/v1/api-keys/';
const keyPath = '/api/v1/api-keys/:id/';
/** Each key has its own rate limit, so the number of keys bounds the requests of a user. */
const MOST_KEYS = 100;

const fields = {
  label: z.string().trim().max(100),
  project: integerField().nullable(),
  scope: keyScope,
  expires_at: futureField().nullable(),
  rate_limit: integerField().min(1).max(MAX_ID).nullable(),
};
const bodySchema = z.object(fields).partial();

const list = defineRoute({
  method: 'GET',
  path: keysPath,
  summary: "Lists the caller's API keys, oldest first; with `user`, for administrators, that user's.",
  auth: 'session',
  query: z.object({ ...pageQuery(1), user: queryInteger(0, MAX_ID).optional() }),
  responses: { 200: envelopeOf(keySchema) },
  async handler({ deps, caller, query }) {
    const userId = query.user ?? caller.userId;
    if (userId !== caller.userId) await requireAdministrator(deps, caller);
    const { total, keys } = await pageOfKeys(deps.db, { userId, ...toWindow(query) });
    return answerPage(query, total, keys.map(toKey));
  },
});

const create = defineRoute({
  method: 'POST',
  path: keysPath,
  summary: 'Creates an API key of the caller and shows it, once. `rate_limit` is for administrators (403).',
  auth: 'session',
  audit: { action: 'key.created', target: 'key', makes: 'id' },
  body: bodySchema,
  responses: { 201: newKeySchema },
  async handler({ deps, caller, body }) {
    if (body.rate_limit !== undefined) await requireAdministrator(deps, caller);
    await checkProject(deps, caller, body.project);
    const key = { userId: caller.userId, label: '', ...toSettings(body) };
    const created = await createKeyBelowLimit(deps.db, key, MOST_KEYS);
    if (created === undefined) throw new ApiError(400, 'too_many_keys', `A user may have ${MOST_KEYS} API keys.`);
    return { status: 201, body: { ...toKey(created), api_key: created.apiKey } };
  },
});

const update = defineRoute({
  method: 'PATCH',
  path: keyPath,
  summary: "Changes an API key of the caller. Administrators change `rate_limit`, and of others' keys only that.",
  auth: 'session',
  audit: { action: 'key.changed', target: 'key', id: 'id' },
  params: idParams,
  body: bodySchema,
  responses: { 200: keySchema },
  async handler({ deps, caller, params, body }) {
    const { isAdmin, isOwn } = await requireKey(deps, caller, params.id);
    const { rate_limit: rateLimit, ...others } = body;
    const changesOthers = Object.values(others).some((value) => value !== undefined);
    if ((rateLimit !== undefined && !isAdmin) || (changesOthers && !isOwn)) throw permissionDenied();
    await checkProject(deps, caller, body.project);
    const key = orNotFound(await updateKey(deps.db, params.id, toSettings(body)));
    return { status: 200, body: toKey(key) };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: keyPath,
  summary: "Deletes an API key of the caller; administrators delete anybody's. It is refused from then on.",
  auth: 'session',
  audit: { action: 'key.deleted', target: 'key', id: 'id' },
  params: idParams,
  responses: { 204: nothing },
  async handler({ deps, caller, params }) {
    await requireKey(deps, caller, params.id);
    if (!(await deleteKey(deps.db, params.id))) throw notFound();
    return { status: 204 };
  },
});

export const keyRoutes: Route<AccessDeps>[] = [list, create, update, remove];

interface KeyAccess {
  isAdmin: boolean;
  isOwn: boolean;
}

/** Throws 404 for an unknown key, and for another user's key unless the caller is an administrator. */
async function requireKey(deps: AccessDeps, caller: Caller, keyId: number): Promise<KeyAccess> {
  const key: KeyListing | undefined = await findKey(deps.db, keyId);
  const isAdmin = await isAdministrator(deps, caller);
  const isOwn = key?.userId === caller.userId;
  if (key === undefined || !(isOwn || isAdmin)) throw notFound();
  return { isAdmin, isOwn };
}

/** A project that the caller cannot see is a 400 on `project`. */
async function checkProject({ db }: AccessDeps, caller: Caller, projectId: number | null | undefined): Promise<void> {
  if (projectId === undefined || projectId === null) return;
  const isPossible = projectId > 0 && projectId <= MAX_ID;
  const access = isPossible ? await findProjectRole(db, projectId, caller) : undefined;
  if (access !== undefined) return;
  const error = invalidFields({ project: [`Invalid pk "${projectId}" - object does not exist.`] });
  throw isPossible ? refusing({ type: 'project', id: projectId }, error) : error;
}

function toSettings({ label, project, scope, expires_at, rate_limit }: z.infer<typeof bodySchema>) {
  return {
    ...(label === undefined ? {} : { label }),
    projectId: project,
    scope,
    expiresAt: expires_at,
    rateLimit: rate_limit,
  };
}
