import type { KeyScope } from '../../db/core/tables.js';
import { ApiError } from '../http/errors.js';
import type { Route } from '../http/route.js';

/**
 * Throws the 403 where a key of this scope does not reach the route. `read` reaches what is read by GET. `run` reaches the
 * routes that say so, and those of clients that carry the key as a bearer token: the chat proxy and `/mcp`.
 */
export function requireScope(
  scope: KeyScope,
  { auth, method, keyScope }: Pick<Route, 'auth' | 'method' | 'keyScope'>,
): void {
  if (scope === 'full') return;
  const isReached = scope === 'read' ? method === 'GET' : auth === 'bearer-key' || keyScope === 'run';
  if (!isReached) throw new ApiError(403, 'key_scope', `An API key of the scope "${scope}" may not do this.`);
}
