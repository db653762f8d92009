// Keys and tokens of users, and their memberships in projects.
import type { JWTPayload } from 'jose';
import { createKey, deleteKey, listKeys, updateKey, type KeyListing } from '../../db/access/keys-repository.js';
import { listMembers, removeMember, setMember } from '../../db/projects/members-repository.js';
import type { Role } from '../../db/core/tables.js';
import { findUser, type UserRow } from '../../db/users/users-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { creation, recorded } from './recorded.js';
import { signToken } from './session-token.js';

/** More than the members of any project. */
const ALL = 2_147_483_647;

export async function addKey(context: AdminContext, user: number, label: string, rateLimit?: number): Promise<object> {
  await requireUser(context, user);
  const key = { userId: user, label, rateLimit: rateLimit ?? null };
  const { id, apiKey } = await recorded(context, { action: 'key.created', type: 'key', ...creation }, (trx) =>
    createKey(trx, key),
  );
  return { id, api_key: apiKey };
}

export async function showKeys(context: AdminContext, user: number): Promise<object[]> {
  await requireUser(context, user);
  return (await listKeys(context.db, user)).map(toKey);
}

export function changeKey(context: AdminContext, id: number, rateLimit: number): Promise<object> {
  return recorded(context, { action: 'key.changed', type: 'key', key: { id } }, async (trx) => {
    const key = await updateKey(trx, id, { rateLimit });
    if (key === undefined) throw new AdminError(`There is no key ${id}.`);
    return toKey(key);
  });
}

export function removeKey(context: AdminContext, id: number): Promise<object> {
  return recorded(context, { action: 'key.deleted', type: 'key', key: { id } }, async (trx) => {
    if (!(await deleteKey(trx, id))) throw new AdminError(`There is no key ${id}.`);
    return { id, deleted: true };
  });
}

export async function issueToken(context: AdminContext, user: number, ttlSeconds: number): Promise<object> {
  const { email } = await requireUser(context, user);
  const token = await signToken(user, ttlSeconds, context.jwtSecret(), demandedClaims(context, email));
  return recorded(context, { action: 'token.issued', type: 'user', keyOf: () => ({ id: user }) }, () =>
    Promise.resolve({ token }),
  );
}

/** Returns the claims that the API requires of tokens from other services. */
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
  const key = { id: user, projectId: project };
  return recorded(context, { action: 'member.changed', type: 'member', key }, async (trx) => {
    await setMember(trx, project, user, role);
    return { project, user, role };
  });
}

export async function showMembers(context: AdminContext, project: number): Promise<object[]> {
  await requireProject(context, project);
  const { members } = await listMembers(context.db, { projectId: project, limit: ALL, offset: 0 });
  return members;
}

export function dropMember(context: AdminContext, project: number, user: number): Promise<object> {
  const key = { id: user, projectId: project };
  return recorded(context, { action: 'member.removed', type: 'member', key }, async (trx) => {
    if (!(await removeMember(trx, project, user))) {
      throw new AdminError(`User ${user} is no member of project ${project}.`);
    }
    return { project, user, removed: true };
  });
}

async function requireProject({ db }: AdminContext, id: number): Promise<void> {
  const live = db.selectFrom('projects').select('id').where('id', '=', id).where('deleted_at', 'is', null);
  if ((await live.executeTakeFirst()) === undefined) throw new AdminError(`There is no project ${id}.`);
}

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
