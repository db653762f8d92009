import { mayAct } from '../../acceptance/roles.js';
import { findConversationRole } from '../../db/conversations/conversations-repository.js';
import { isProject } from '../../db/projects/projects-repository.js';
import { findFileRole, findProjectRole, findRunRole, findWorkflowRole } from '../../db/projects/members-repository.js';
import type { Reach } from '../../db/access/reach.js';
import { findUser } from '../../db/users/users-repository.js';
import type { AccessDeps } from './deps.js';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import { ApiError, notFound, permissionDenied } from '../http/errors.js';
import { pathId, uuid } from '../http/path-ids.js';
import type { Access, AccessRule, Caller } from '../http/route.js';

/**
 * Checks the role that the rule requires. An object that the user may not see is a 404, so that nobody learns that it
 * exists.
 */
export function authorize(rule: AccessRule, deps: AccessDeps): AppMiddleware {
  return async (ctx, next) => {
    const { caller } = ctx.state;
    if (caller === undefined) throw notFound();
    const { params } = ctx as AppContext;
    const find = (reach: Reach): Promise<Access | undefined> => findAccess(deps, rule.to, params, reach);
    const administrating = rule.orAdministrators === true && (await findAsAdministrator(deps, caller, params, find));
    const access = administrating || (await findVisible(caller, find));
    if (!mayAct(access.role, rule.role) && access.isAdministrator !== true) throw refusal(rule);
    ctx.state.access = access;
    await next();
  };
}

/** Returns undefined unless the caller is an administrator in a session and the project exists. */
async function findAsAdministrator(
  deps: AccessDeps,
  caller: Caller,
  params: Record<string, string | undefined>,
  find: (reach: Reach) => Promise<Access | undefined>,
): Promise<Access | undefined> {
  const id = pathId.safeParse(params['id']);
  if (!id.success || caller.credential !== 'session' || !(await isAdministrator(deps, caller))) return undefined;
  const access = await find(caller);
  if (access !== undefined) return { ...access, isAdministrator: true };
  if (!(await isProject(deps.db, id.data))) return undefined;
  return { projectId: id.data, role: 'viewer', isAdministrator: true, isStranger: true };
}

export function authorizeAdministrators(deps: AccessDeps): AppMiddleware {
  return async (ctx, next) => {
    const { caller } = ctx.state;
    if (caller === undefined) throw permissionDenied();
    await requireAdministrator(deps, caller);
    await next();
  };
}

async function findAccess(
  { db }: AccessDeps,
  to: AccessRule['to'],
  params: Record<string, string | undefined>,
  reach: Reach,
): Promise<Access | undefined> {
  if (to === 'run') {
    const runId = uuid.safeParse(params['workflow_run_id']);
    return runId.success ? findRunRole(db, runId.data, reach) : undefined;
  }
  if (to === 'file') {
    const fileId = uuid.safeParse(params['file_id']);
    return fileId.success ? findFileRole(db, fileId.data, reach) : undefined;
  }
  if (to === 'conversation') {
    const conversationId = uuid.safeParse(params['conversation_id']);
    return conversationId.success ? findConversationRole(db, conversationId.data, reach) : undefined;
  }
  const parsed = pathId.safeParse(params['id']);
  if (!parsed.success) return undefined;
  const id = parsed.data;
  if (to !== 'workflow') return findProjectRole(db, id, reach);
  return findWorkflowRole(db, id, reach, uuid.safeParse(params['run_id']).data);
}

function refusal(rule: AccessRule): ApiError {
  if (rule.refusal !== 400) return permissionDenied();
  return new ApiError(400, 'permission_denied', 'Your role in the project does not permit this action.');
}

/** A key that is restricted to a project never has the rights of an administrator, which reach beyond that project. */
export async function isAdministrator({ db }: AccessDeps, { userId, projectId }: Caller): Promise<boolean> {
  if (projectId !== undefined) return false;
  return (await findUser(db, userId))?.is_admin === true;
}

export async function requireAdministrator(deps: AccessDeps, caller: Caller): Promise<void> {
  if (!(await isAdministrator(deps, caller))) throw permissionDenied();
}

/**
 * Returns the object that `find` finds within the caller's reach, else throws 404. Throws 403 instead if only the
 * restriction of the API key hides the object from a user who may see it.
 */
export async function findVisible<T>(reach: Reach, find: (reach: Reach) => Promise<T | undefined>): Promise<T> {
  const found = await find(reach);
  if (found !== undefined) return found;
  const { userId, projectId } = reach;
  if (projectId === undefined || (await find({ userId })) === undefined) throw notFound();
  throw new ApiError(403, 'key_project', 'This API key is restricted to another project.');
}
