// Keys and tokens of users, and their memberships in projects.
import type { JWTPayload } from 'jose';
import { createKey, deleteKey, listKeys, updateKey, type KeyListing } from '../../db/projects/keys-repository.js';
import { listMembers, removeMember, setMember } from '../../db/projects/members-repository.js';
import type { Role } from '../../db/core/tables.js';
import { findUser, type UserRow } from '../../db/projects/users-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { signToken } from './session-token.js';

/** More than any project has members. */
const ALL = 2_147_483_647;

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
  const { email } = await requireUser(context, user);
  return { token: await signToken(user, ttlSeconds, context.jwtSecret(), demandedClaims(context, email)) };
}

/** What the API demands of tokens that are not of its own sessions. */
function demandedClaims({ foreignTokens }: AdminContext, email: string | null): JWTPayload {
  const { issuer, audience, userClaim } = foreignTokens;
  if (userClaim !== undefined && email === null) {
    throw new AdminError(`JWT_USER_CLAIM: the user must have an e-mail address, which the claim ${userClaim} holds.`);
  }
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(audience === undefined ? {} : { aud: audience }),
    ...(userClaim === undefined ? {} : { [userClaim]: email, email_verified: true }),
  };
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

/** Throws AdminError when there is no such user. */
export async function requireUser({ db }: AdminContext, id: number): Promise<UserRow> {
  const user = await findUser(db, id);
  if (user === undefined) throw new AdminError(`There is no user ${id}.`);
  return user;
}

function toKey({ id, label, hint, projectId, scope, expiresAt, rateLimit, createdAt }: KeyListing): object {
  return {
    id,
    label,
    hint,
    project: projectId,
    scope,
    expires_at: expiresAt,
    rate_limit: rateLimit,
    created_at: createdAt,
  };
}
