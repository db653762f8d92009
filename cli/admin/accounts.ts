// Users, their keys and tokens, and their memberships in projects.
import { createKey, deleteKey, listKeys } from '../../db/projects/keys-repository.js';
import { removeMember, setMember } from '../../db/projects/members-repository.js';
import type { Role } from '../../db/core/tables.js';
import { createUser, findUser, setApiAccess, type UserRow } from '../../db/projects/users-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { signToken } from './session-token.js';

export async function addUser({ db }: AdminContext, name: string, apiAccess: boolean): Promise<object> {
  if (name.trim() === '') throw new AdminError('--name must not be empty.');
  return toUser(await createUser(db, { name, apiAccess }));
}

export async function changeApiAccess({ db }: AdminContext, id: number, apiAccess: boolean): Promise<object> {
  return toUser((await setApiAccess(db, id, apiAccess)) ?? unknownUser(id));
}

export async function addKey(context: AdminContext, user: number, label: string, rateLimit?: number): Promise<object> {
  await requireUser(context, user);
  const { id, apiKey } = await createKey(context.db, { userId: user, label, rateLimit: rateLimit ?? null });
  return { id, api_key: apiKey };
}

export async function showKeys(context: AdminContext, user: number): Promise<object[]> {
  await requireUser(context, user);
  const keys = await listKeys(context.db, user);
  return keys.map(({ id, label, hint, rateLimit, createdAt }) => ({
    id,
    label,
    hint,
    rate_limit: rateLimit,
    created_at: createdAt,
  }));
}

export async function removeKey({ db }: AdminContext, id: number): Promise<object> {
  if (!(await deleteKey(db, id))) throw new AdminError(`There is no key ${id}.`);
  return { id, deleted: true };
}

/** The token expires `ttlSeconds` from now. */
export async function issueToken(context: AdminContext, user: number, ttlSeconds: number): Promise<object> {
  await requireUser(context, user);
  return { token: await signToken(user, ttlSeconds, context.jwtSecret()) };
}

export async function putMember(context: AdminContext, project: number, user: number, role: Role): Promise<object> {
  await requireUser(context, user);
  await requireProject(context, project);
  await setMember(context.db, project, user, role);
  return { project, user, role };
}

export async function dropMember({ db }: AdminContext, project: number, user: number): Promise<object> {
  if (!(await removeMember(db, project, user))) {
    throw new AdminError(`User ${user} is no member of project ${project}.`);
  }
  return { project, user, removed: true };
}

export async function requireProject({ db }: AdminContext, id: number): Promise<void> {
  const live = db.selectFrom('projects').select('id').where('id', '=', id).where('deleted_at', 'is', null);
  if ((await live.executeTakeFirst()) === undefined) throw new AdminError(`There is no project ${id}.`);
}

async function requireUser({ db }: AdminContext, id: number): Promise<void> {
  if ((await findUser(db, id)) === undefined) unknownUser(id);
}

function unknownUser(id: number): never {
  throw new AdminError(`There is no user ${id}.`);
}

function toUser({ id, name, api_access }: UserRow): object {
  return { id, name, api_access };
}
