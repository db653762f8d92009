// The rights of the role of API and worker, if another role runs the migrations: API and worker may read and write rows
// of all tables, with the exceptions in `RESTRICTIONS`, but not change the schema (docs/operate/deploy.md).
import { sql } from 'kysely';
import type { Database } from '../core/client.js';

type Right = 'INSERT' | 'UPDATE' | 'DELETE';

interface Restriction {
  table: string;
  revoked: readonly Right[];
  /** Columns that may be updated although `UPDATE` is revoked. */
  updatable?: readonly string[];
}

/** Tables that the service may not write freely. */
const RESTRICTIONS: readonly Restriction[] = [
  { table: 'kysely_migration', revoked: ['INSERT', 'UPDATE', 'DELETE'] },
  { table: 'kysely_migration_lock', revoked: ['INSERT', 'UPDATE', 'DELETE'] },
  { table: 'routine_files', revoked: ['INSERT', 'UPDATE', 'DELETE'] },
  // Records are chained once, and deleted by a function of the owner.
  { table: 'audit_records', revoked: ['UPDATE', 'DELETE'], updatable: ['position', 'hash'] },
  { table: 'audit_chains', revoked: ['DELETE'] },
];

/** The role does not exist, or it owns the tables. */
export class RuntimeRoleError extends Error {
  override name = 'RuntimeRoleError';
}

/**
 * Grants `role` its rights on the existing tables, in one transaction. `db` must be a connection of the tables' owner.
 * Idempotent; must be called after every migration. Throws RuntimeRoleError.
 */
export async function grantRuntimeRights(db: Database, role: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Concurrent grants would fail on the same catalog row.
    await sql`SELECT pg_advisory_xact_lock(hashtext('workflow-service'), hashtext('runtime-rights'))`.execute(trx);
    const { rows } = await sql<{ exists: boolean; isOwn: boolean }>`
      SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${role}) AS exists, current_user = ${role} AS "isOwn"`.execute(
      trx,
    );
    if (rows[0]?.exists !== true) throw new RuntimeRoleError(`there is no role ${role}`);
    if (rows[0].isOwn) throw new RuntimeRoleError('it must be another role than that of DATABASE_URL');
    const grantee = sql.id(role);
    await sql`REVOKE CREATE ON SCHEMA public FROM PUBLIC`.execute(trx);
    await sql`GRANT USAGE ON SCHEMA public TO ${grantee}`.execute(trx);
    await sql`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${grantee}`.execute(trx);
    await sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${grantee}`.execute(trx);
    await sql`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${grantee}`.execute(trx);
    for (const { table, revoked, updatable } of RESTRICTIONS) {
      await sql`REVOKE ${sql.raw(revoked.join(', '))} ON ${sql.table(table)} FROM ${grantee}`.execute(trx);
      if (updatable === undefined) continue;
      const columns = sql.join(updatable.map((column) => sql.ref(column)));
      await sql`GRANT UPDATE (${columns}) ON ${sql.table(table)} TO ${grantee}`.execute(trx);
    }
  });
}
