// Determines the tenant of a request and leases the memory that the request uses.
import { onBehalfOf } from '../../db/core/tenants.js';
import { tenantOf } from '../access/visitor.js';
import type { DispatchDeps } from './deps.js';
import type { Step } from './step.js';

/** The tenant also determines whose share of the database connections the request uses. */
export function addTenant(deps: Pick<DispatchDeps, 'signIn'>): Step {
  return async ({ headers, state }, next) => {
    const { admitted, caller, peerAddress } = state;
    state.tenant = admitted?.tenant ?? tenantOf(deps, { caller, peerAddress, headers });
    await onBehalfOf(state.tenant, next);
  };
}

/**
 * send-result.ts ends the lease after the answer was sent. A stream ends it earlier, and a deferred answer replaces it
 * (await-later.ts).
 */
export function addMemory({ memory }: Pick<DispatchDeps, 'memory'>): Step {
  return async ({ state }, next) => {
    state.memory = memory.lease(state.tenant, state.signal);
    await next();
  };
}
