import type { Scope } from '../../db/projects/scope.js';
import { ApiError, notFound } from '../http/errors.js';

/**
 * Returns the error for an object that was not found in the scope of the caller: the 404, or the 403 that gives the reason if
 * only the restriction of the API key keeps the object from a user who may see it. `find` looks with another scope.
 */
export async function hiddenFrom(
  { userId, projectId }: Scope,
  find: (scope: Scope) => Promise<unknown>,
): Promise<ApiError> {
  if (projectId === undefined || (await find({ userId })) === undefined) return notFound();
  return new ApiError(403, 'key_project', 'This API key is restricted to another project.');
}
