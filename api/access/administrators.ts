import { findUser } from '../../db/projects/users-repository.js';
import type { AppDeps } from '../deps.js';
import { permissionDenied } from '../http/errors.js';
import type { Caller } from '../http/route.js';

/** A key that is restricted to a project is none of an administrator: users belong to no project. */
export async function isAdministrator({ db }: AppDeps, { userId, projectId }: Caller): Promise<boolean> {
  if (projectId !== undefined) return false;
  return (await findUser(db, userId))?.is_admin === true;
}

/** Throws 403 for everybody else. */
export async function requireAdministrator(deps: AppDeps, caller: Caller): Promise<void> {
  if (!(await isAdministrator(deps, caller))) throw permissionDenied();
}
