// Lists the audit log for people.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { AuditAction } from './subjects.js';
import type { AuditChanges } from './audit-entry.js';

export interface AuditQuery {
  /** Undefined for the records of all projects and those without a project. */
  projectId?: number;
  action: AuditAction | undefined;
  userId: number | undefined;
  from: Date | undefined;
  /** Exclusive. */
  until: Date | undefined;
  limit: number;
  offset: number;
}

export type AuditRecord = Awaited<ReturnType<typeof listAuditRecords>>['records'][number];

/** Newest first. */
export async function listAuditRecords(db: Db, query: AuditQuery) {
  const { projectId, action, userId, from, until, limit, offset } = query;
  const found = db
    .selectFrom('audit_records')
    .$if(projectId !== undefined, (all) => all.where('project_id', '=', projectId!))
    .$if(action !== undefined, (all) => all.where('action', '=', action!))
    .$if(userId !== undefined, (all) => all.where('actor_id', '=', userId!))
    .$if(from !== undefined, (all) => all.where('at', '>=', from!))
    .$if(until !== undefined, (all) => all.where('at', '<', until!));
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (limit === 0 || offset >= total) return { total, records: [] };
  const records = await found
    .select([
      'id',
      'at',
      'project_id as projectId',
      sql<AuditAction>`action`.as('action'),
      'outcome',
      'actor_id as actorId',
      'via',
      'key_id as keyId',
    ])
    .select(['actor_name as actorName', 'address', 'target_type as targetType', 'target_id as targetId'])
    .select(['target_name as targetName', 'count', 'hash', sql<AuditChanges>`changes`.as('changes')])
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, records };
}
