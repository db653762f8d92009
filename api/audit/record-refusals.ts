// Decides which errors are refusals, and records them in the audit log.
import { findTarget, type TargetKey, type TargetType } from '../../db/audit/subjects.js';
import { networkOf } from '../access/visitor.js';
import type { AuditDeps } from './deps.js';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import { ApiError } from '../http/errors.js';
import { pathId, uuid } from '../http/path-ids.js';
import type { RouteDeclaration } from '../http/route.js';
import type { AuditRule } from '../http/audit-rule.js';
import { doerOf, targetKey } from './audit-trail.js';

/** Records the refusals of a route that declares `audit`; does nothing for other routes. */
export function recordRefusals(route: RouteDeclaration, deps: AuditDeps): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      await recordRefusal(route, ctx as AppContext, deps, error);
      throw error;
    }
  };
}

/** Records at most one refusal per request. Never throws. */
export async function recordRefusal(
  route: RouteDeclaration,
  ctx: AppContext,
  deps: AuditDeps,
  error: unknown,
): Promise<void> {
  const { audit: rule } = route;
  const { state } = ctx;
  if (rule === undefined || state.isRefusalRecorded === true || !isRefusal(rule, error)) return;
  state.isRefusalRecorded = true;
  try {
    const named = await findNamed(rule, route, ctx, deps, error);
    // An object that does not exist is a 404 for everybody, so nobody was refused anything.
    if (named === undefined && error.status === 404) return;
    const known = doerOf(route, ctx, deps);
    const doer = { ...known, userId: known.userId ?? state.accountId, ...error.caller };
    await deps.refusals.record({
      action: rule.refused ?? rule.action,
      doer,
      network: networkOf(doer.address ?? ''),
      projectId: named?.projectId ?? null,
      target: named?.target,
    });
  } catch (failure) {
    state.log.error({ err: failure }, 'a refusal is missing in the audit log');
  }
}

/** An insufficient role may be answered with 400 (`permission_denied`), and an object of others with 404. */
function isRefusal({ refused }: AuditRule, error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if (refused !== undefined) return [401, 403, 429].includes(error.status);
  return (
    error.status === 403 || error.status === 404 || error.code === 'permission_denied' || error.refuses !== undefined
  );
}

/**
 * Returns the object that was refused to the caller: the user of a refused sign-in, or the object that the error names,
 * or else the target, or the object that the path names around it. Returns undefined if none of them exists, or if the
 * error is a 404 and the caller has access to the outer object.
 */
async function findNamed(
  rule: AuditRule,
  route: RouteDeclaration,
  ctx: AppContext,
  { db }: AuditDeps,
  error: ApiError,
) {
  const { state } = ctx;
  const find = async (type: TargetType, key: TargetKey) => {
    const found = await findTarget(db, type, key);
    return found && { projectId: found.projectId, target: { type, id: String(key.id), name: found.name } };
  };
  // The search also runs if there is no such account, so that the response time does not reveal that.
  if (rule.refused !== undefined) return find('user', { id: state.accountId ?? 0 });
  if (error.refuses !== undefined) return find(error.refuses.type, error.refuses);
  const params = route.params?.safeParse(ctx.params).data;
  const around = toAround(route, ctx.params);
  // A caller with access to the outer object is allowed to learn that there is no such object in it, so nothing was
  // refused.
  if (error.status === 404 && state.access !== undefined) return undefined;
  const projectId = state.access?.projectId ?? (around?.type === 'project' ? around.id : undefined);
  const key = params === undefined ? undefined : targetKey(rule, params, projectId);
  const [inside, outside] = [key && (await find(rule.target, key)), around && (await find(around.type, around))];
  // If the target does not exist, or belongs to another project than the object around it in the path, that outer
  // object was refused.
  return outside !== undefined && inside?.projectId !== outside.projectId ? outside : inside;
}

type Around = { type: 'project' | 'workflow'; id: number } | { type: 'run' | 'file' | 'conversation'; id: string };

const PARAMETERS = { run: 'workflow_run_id', file: 'file_id', conversation: 'conversation_id' } as const;

/** Returns the object that the access rule of the route names. */
function toAround({ access }: RouteDeclaration, params: Record<string, string | undefined>): Around | undefined {
  if (access === undefined) return undefined;
  const { to } = access;
  if (to === 'project' || to === 'workflow') {
    const id = pathId.safeParse(params['id']).data;
    return id === undefined ? undefined : { type: to, id };
  }
  const { data: inner } = uuid.safeParse(params[PARAMETERS[to]]);
  return inner === undefined ? undefined : { type: to, id: inner };
}
