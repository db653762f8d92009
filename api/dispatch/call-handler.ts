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

/** Calls the handler in the transaction of its audit record (`InTransaction`). */
export function callHandlerInTransaction<D extends DispatchDeps>(route: Route<D>, rule: AuditRule, deps: D): Step {
  return async ({ headers, state }) => {
    const { audit } = state.given;
    const handle = handlerOf(route, headers, state);
    state.result = await runRecorded(rule, audit!, state.access?.projectId, (db) => {
      // The declared type of the handler asks for these, `InTransaction`; it is erased here.
      const own = { ...deps, db, answerDb: deps.db };
      return handle(own);
    });
  };
}

export function runsInTransaction(rule: AuditRule | undefined): rule is AuditRule {
  return rule !== undefined && rule.commits !== 'handler' && rule.records !== 'refusals';
}

/** The state gives up what the handler gets, so that a body is not in memory while the answer is sent. */
function handlerOf<D>(route: Route<D>, requestHeaders: IncomingHttpHeaders, state: RequestState) {
  const { access, caller, given, log, memory, peerAddress, signal, tenant } = state;
  state.given = {};
  const common = { log, tenant, memory, requestHeaders, peerAddress, signal };
  // The types of the declaration state whether there is a caller and an access; this code passes both on.
  return (deps: D): Promise<RouteResult> => route.handler({ deps, ...common, caller, access, ...given });
}
