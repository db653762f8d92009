// For whom a request is worked at, and the memory that it takes.
import { onBehalfOf } from '../../db/core/tenants.js';
import { tenantOf } from '../access/visitor.js';
import type { DispatchDeps } from './deps.js';
import type { Step } from './step.js';

/** The connections to the database count for the tenant, too. */
export function addTenant(deps: Pick<DispatchDeps, 'signIn'>): Step {
  return async ({ headers, state }, next) => {
    const { admitted, caller, peerAddress } = state;
    state.tenant = admitted?.tenant ?? tenantOf(deps, { caller, peerAddress, headers });
    await onBehalfOf(state.tenant, next);
  };
}

/** The memory that the body takes is held until the answer was sent (send-result.ts), unless that is a stream or comes later. */
export function addMemory({ memory }: Pick<DispatchDeps, 'memory'>): Step {
  return async ({ state }, next) => {
    state.memory = memory.lease(state.tenant, state.signal);
    await next();
  };
}
