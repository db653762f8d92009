// Defines the order of the steps of a request.
import { authenticate } from '../access/authenticate.js';
import { authorize, authorizeAdministrators } from '../access/authorize.js';
import { recordRefusals } from '../audit/record-refusals.js';
import type { AppMiddleware } from '../http/app-state.js';
import { refuseOtherOrigins } from '../http/middleware/origins.js';
import type { Route } from '../http/route.js';
import { addAudit } from './add-audit.js';
import { addBody } from './add-body.js';
import { addMemory, addTenant } from './add-memory.js';
import { addAdmitted, addHeaders, addParams, addPeerAddress, addQuery } from './add-request-facts.js';
import { addRoute, addSignal } from './add-route.js';
import { awaitLater } from './await-later.js';
import { answerUnparsed } from './answer-unparsed.js';
import { callHandler, callHandlerInTransaction, runsInTransaction } from './call-handler.js';
import { countUnless304 } from './count-unless-304.js';
import type { DispatchDeps } from './deps.js';
import { changesSomething, refuseWithoutRoom } from './refuse-without-room.js';
import { sendResult } from './send-result.js';
import { awaitDrawing, awaitsDrawing } from './await-drawing.js';

/**
 * Builds the steps of a route from its declaration and leaves out the steps that the route does not need. The steps
 * add fields to the state of the request (step.ts), refuse the request, or send its answer.
 */
export function dispatch<D extends DispatchDeps>(route: Route<D>, deps: D): AppMiddleware[] {
  const { access, admit, audit, body, headers, params, query } = route;
  const steps = [
    addRoute(route),
    addSignal(),
    audit && recordRefusals(route, deps),
    route.ownOriginOnly && refuseOtherOrigins(deps.config),
    // Authentication and authorization precede validation, so that a caller without access learns nothing from a 400.
    authenticate(route, deps), // adds the caller
    route.isForAdministrators && authorizeAdministrators(deps),
    access && authorize(access, deps), // adds the access
    changesSomething(route) && refuseWithoutRoom(deps),
    sendResult(deps),
    route.countsNo304 && countUnless304(),
    params && addParams(params),
    query && addQuery(query, route.repeatable),
    headers && addHeaders(headers),
    addPeerAddress(),
    admit && addAdmitted(admit, deps),
    addTenant(deps),
    addMemory(deps),
    route.answerUnparsed && answerUnparsed(route.answerUnparsed),
    awaitLater(deps),
    body && addBody(route, deps),
    audit && addAudit(route, deps),
    awaitsDrawing(route) && awaitDrawing(route, deps),
    runsInTransaction(audit) ? callHandlerInTransaction(route, audit, deps) : callHandler(route, deps),
  ];
  // The cast is safe because the order above adds each field of the state before a step reads it.
  return steps.filter((step) => typeof step === 'function') as AppMiddleware[];
}
