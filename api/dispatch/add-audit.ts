import { createTrail } from '../audit/audit-trail.js';
import type { AuditDeps } from '../audit/deps.js';
import { recordRefusal } from '../audit/record-refusals.js';
import type { RouteDeclaration } from '../http/route.js';
import type { Step } from './step.js';

/** Adds what a handler needs to record its changes in the audit log. */
export function addAudit(route: RouteDeclaration, deps: AuditDeps): Step {
  return async (ctx, next) => {
    const { given } = ctx.state;
    const refuse = (error: unknown) => recordRefusal(route, ctx, deps, error);
    given.audit = Object.assign(createTrail(route, ctx, deps, given), { refuse });
    await next();
  };
}
