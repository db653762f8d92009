import { createTrail } from '../audit/audit-trail.js';
import type { AuditDeps } from '../audit/deps.js';
import { recordRefusal } from '../audit/record-refusals.js';
import type { RouteDeclaration } from '../http/route.js';
import type { Step } from './step.js';

export function addAudit(route: RouteDeclaration, deps: AuditDeps): Step {
  return async (ctx, next) => {
    const { handlerInput } = ctx.state;
    const refuse = (error: unknown) => recordRefusal(route, ctx, deps, error);
    handlerInput.audit = Object.assign(createTrail(route, ctx, deps, handlerInput), { refuse });
    await next();
  };
}
