import { findProjectRole, findRunRole, findWorkflowRole } from '../../db/projects/members-repository.js';
import type { Scope } from '../../db/projects/scope.js';
import { requireAdministrator } from './administrators.js';
import { hiddenFrom } from './key-project.js';
import { mayAct } from '../../acceptance/roles.js';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import type { AppDeps } from '../deps.js';
import { ApiError, notFound, permissionDenied } from '../http/errors.js';
import type { Access, AccessRule } from '../http/route.js';
import { pathId, uuid } from '../http/path-ids.js';

/**
 * Checks the role that the rule requires. An object that the user may not see is a 404, so its existence never leaks.
 */
export function authorize(rule: AccessRule, deps: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    const { caller } = ctx.state;
    if (caller === undefined) throw notFound();
    const find = (scope: Scope) => findAccess(deps, rule.to, (ctx as AppContext).params, scope);
    const access = await find(caller);
    if (access === undefined) throw await hiddenFrom(caller, find);
    if (!mayAct(access.role, rule.role)) throw refusal(rule);
    ctx.state.access = access;
    await next();
  };
}

/** Lets administrators through, and nobody else. */
export function authorizeAdministrators(deps: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    const { caller } = ctx.state;
    if (caller === undefined) throw permissionDenied();
    await requireAdministrator(deps, caller);
    await next();
  };
}

async function findAccess(
  { db }: AppDeps,
  to: AccessRule['to'],
  params: Record<string, string | undefined>,
  scope: Scope,
): Promise<Access | undefined> {
  if (to === 'run') {
    const runId = uuid.safeParse(params['workflow_run_id']);
    return runId.success ? findRunRole(db, runId.data, scope) : undefined;
  }
  const parsed = pathId.safeParse(params['id']);
  if (!parsed.success) return undefined;
  const id = parsed.data;
  return to === 'workflow' ? findWorkflowRole(db, id, scope) : findProjectRole(db, id, scope);
}

function refusal(rule: AccessRule): ApiError {
  if (rule.refusal !== 400) return permissionDenied();
  return new ApiError(400, 'permission_denied', 'Your role in the project does not permit this action.');
}
