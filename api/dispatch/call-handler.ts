import type { IncomingHttpHeaders } from 'node:http';
import { runRecorded } from '../audit/audit-trail.js';
import type { AuditRule } from '../http/audit-rule.js';
import type { Route, RouteResult } from '../http/route.js';
import type { DispatchDeps } from './deps.js';
import type { RequestState, Step } from './step.js';

export function callHandler<D>(route: Route<D>, deps: D): Step {
  return async ({ headers, state }) => {
    const handle = handlerOf(route, headers, state);
    state.result = await handle(deps);
  };
}

export function callHandlerInTransaction<D extends DispatchDeps>(route: Route<D>, rule: AuditRule, deps: D): Step {
  return async ({ headers, state }) => {
    const { audit } = state.handlerInput;
    const handle = handlerOf(route, headers, state);
    state.result = await runRecorded(rule, audit!, state.access?.projectId, (db) => {
      // The handler's declared type requires these fields (`InTransaction`); the type is erased here.
      const own = { ...deps, db, answerDb: deps.db };
      return handle(own);
    });
  };
}

export function runsInTransaction(rule: AuditRule | undefined): rule is AuditRule {
  return rule !== undefined && rule.commits !== 'handler' && rule.records !== 'refusals';
}

/** Removes the handler's input from the state, so that the body can be freed before the answer is sent. */
function handlerOf<D>(route: Route<D>, requestHeaders: IncomingHttpHeaders, state: RequestState) {
  const { access, caller, handlerInput, log, memory, peerAddress, signal, tenant } = state;
  state.handlerInput = {};
  const common = { log, tenant, memory, requestHeaders, peerAddress, signal };
  // The types of the route's declaration state whether `caller` and `access` exist; both are passed on in any case.
  return (deps: D): Promise<RouteResult> => route.handler({ deps, ...common, caller, access, ...handlerInput });
}
