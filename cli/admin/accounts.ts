// Users, their keys and tokens, and their memberships in projects.
import { createKey, deleteKey, listKeys, updateKey, type KeyListing } from '../../db/projects/keys-repository.js';
import { listMembers, removeMember, setMember } from '../../db/projects/members-repository.js';
import type { Role } from '../../db/core/tables.js';
import { createUser, findUser, setApiAccess, type UserRow } from '../../db/projects/users-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { signToken } from './session-token.js';

/** More than any project has members. */
const ALL = 2_147_483_647;

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
  return (await listKeys(context.db, user)).map(toKey);
}

export async function changeKey({ db }: AdminContext, id: number, rateLimit: number): Promise<object> {
  const key = await updateKey(db, id, { rateLimit });
  if (key === undefined) throw new AdminError(`There is no key ${id}.`);
  return toKey(key);
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

export async function showMembers(context: AdminContext, project: number): Promise<object[]> {
  await requireProject(context, project);
  const { members } = await listMembers(context.db, { projectId: project, limit: ALL, offset: 0 });
  return members;
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

function toKey({ id, label, hint, projectId, expiresAt, rateLimit, createdAt }: KeyListing): object {
  return {
    id,
    label,
    hint,
    project: projectId,
    expires_at: expiresAt,
    rate_limit: rateLimit,
    created_at: createdAt,
  };
}

function toUser({ id, name, api_access }: UserRow): object {
  return { id, name, api_access };
}
