// Stores each change by a request together with its audit record (docs/operate/audit.md).
import type { Doer } from '../../db/audit/audit-entry.js';
import { recordChange } from '../../db/audit/record-change.js';
import type { TargetKey } from '../../db/audit/subjects.js';
import type { Database } from '../../db/core/client.js';
import type { AppContext } from '../http/app-state.js';
import type { AuditDeps } from './deps.js';
import type { RouteDeclaration, RouteResult } from '../http/route.js';
import { clientAddress } from '../access/visitor.js';
import type { AuditRule, AuditTrail } from '../http/audit-rule.js';

export function createTrail(
  route: RouteDeclaration,
  ctx: AppContext,
  deps: AuditDeps,
  given: { params?: unknown; body?: unknown },
): Omit<AuditTrail, 'refuse'> {
  return {
    get doer() {
      return doerOf(route, ctx, deps);
    },
    concerns(userId) {
      ctx.state.accountId = userId;
    },
    change(work, { within = deps.db, ...about } = {}) {
      const rule = route.audit;
      if (rule === undefined || rule.records === 'refusals') {
        throw new Error(`${route.method} ${route.path} records no change`);
      }
      const { action, target: type, makes } = rule;
      const touched = (rule.alwaysRecorded ?? []).filter((field) => Object.hasOwn(Object(given.body) as object, field));
      const key = targetKey(rule, given.params, ctx.state.access?.projectId);
      return recordChange(
        within,
        { action, type, doer: doerOf(route, ctx, deps), key, isMade: makes !== undefined, touched, ...about },
        work,
      );
    },
  };
}

/** Runs the handler in the transaction that stores the audit record. */
export function runRecorded(
  { makes }: AuditRule,
  trail: Pick<AuditTrail, 'change'>,
  projectId: number | undefined,
  handler: (db: Database) => Promise<RouteResult>,
): Promise<RouteResult> {
  if (makes === undefined) return trail.change(handler);
  const keyOf = ({ body }: RouteResult) => ({ id: (body as Record<string, number | string>)[makes]!, projectId });
  return trail.change(handler, { keyOf });
}

export function doerOf({ audit }: RouteDeclaration, { state, req, headers }: AppContext, { signIn }: AuditDeps): Doer {
  const { caller } = state;
  const peerAddress = req.socket.remoteAddress ?? '';
  const address = clientAddress({ peerAddress, headers }, signIn.trustedProxies);
  const { client, credential } = caller ?? {};
  const via = client === undefined ? (credential ?? audit?.via ?? 'session') : (`mcp:${client}` as const);
  return { via, userId: caller?.userId, keyId: caller?.keyId, address: address === '' ? undefined : address };
}

/** Returns undefined if the route's path does not contain the id of the target. */
export function targetKey(
  { id, within }: AuditRule,
  params: unknown,
  projectId: number | undefined,
): TargetKey | undefined {
  const named = params as Record<string, number | string>;
  if (id === undefined) return undefined;
  return { id: named[id]!, projectId, ...(within !== undefined && { workflowId: Number(named[within]) }) };
}
