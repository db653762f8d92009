// Users and their passwords.
import { hashPassword } from '../../api/sessions/password-hash.js';
import { passwordProblem } from '../../api/sessions/password-rules.js';
import { createUser, findUserByEmail, listUsers, setApiAccess, type UserRow } from '../../db/users/users-repository.js';
import { replacePassword, writePassword } from '../../db/sessions/passwords-repository.js';
import { requireUser } from './accounts.js';
import { AdminError, type AdminContext } from './context.js';
import { creation, recorded } from './recorded.js';

interface NewUser {
  name: string;
  email?: string;
  password?: string;
  isAdmin: boolean;
  apiAccess: boolean;
}

const MAX_EMAIL = 320;

/** Creates the user and its password in one transaction. */
export async function addUser(context: AdminContext, input: NewUser): Promise<object> {
  const { name, password, isAdmin, apiAccess } = input;
  const email = input.email?.trim();
  if (name.trim() === '') throw new AdminError('--name must not be empty.');
  if (email !== undefined) checkEmail(email);
  if (password !== undefined && email === undefined) {
    throw new AdminError('--email: must be given with a password, for people sign in by both.');
  }
  const hash = password === undefined ? undefined : await hashChecked(password);
  if (email !== undefined && (await findUserByEmail(context.db, email)) !== undefined) {
    throw new AdminError('--email: another user has this address.');
  }
  const user = await recorded(context, { action: 'user.created', type: 'user', ...creation }, async (trx) => {
    const created = await createUser(trx, { name, email, apiAccess, isAdmin });
    if (hash !== undefined) await writePassword(trx, created.id, hash);
    return created;
  });
  return toUser(user);
}

/** Also ends the user's sessions and deletes unused links. */
export async function setPassword(context: AdminContext, id: number, password: string): Promise<object> {
  const user = await requireUser(context, id);
  if (user.email === null) throw new AdminError(`User ${id} has no e-mail address, and nobody signs in without one.`);
  const hash = await hashChecked(password);
  await recorded(context, { action: 'password.changed', type: 'user', key: { id } }, (trx) =>
    replacePassword(trx, id, hash),
  );
  return toUser(user);
}

export async function showUsers({ db }: AdminContext): Promise<object[]> {
  return (await listUsers(db)).map((user) => ({ ...toUser(user), created_at: user.created_at }));
}

export function changeApiAccess(context: AdminContext, id: number, apiAccess: boolean): Promise<object> {
  return recorded(context, { action: 'user.changed', type: 'user', key: { id } }, async (trx) => {
    const user = await setApiAccess(trx, id, apiAccess);
    if (user === undefined) throw new AdminError(`There is no user ${id}.`);
    return toUser(user);
  });
}

function checkEmail(email: string): void {
  if (/^[^\s@]+@[^\s@]+$/.test(email) && email.length <= MAX_EMAIL) return;
  throw new AdminError('--email: must be an e-mail address.');
}

async function hashChecked(password: string): Promise<string> {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new AdminError(problem);
  return hashPassword(password);
}

function toUser({ id, name, email, api_access, is_admin, is_active }: UserRow): object {
  return { id, name, email, api_access, is_admin, is_active };
}
