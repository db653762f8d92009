import { sql } from 'kysely';
import { verifyRecords, type Verification } from '../../db/audit/verify-repository.js';
import { AdminError, type AdminContext } from './context.js';

/** Verifies all records, or those of one project, even a deleted one. */
export function verifyAudit({ db }: AdminContext, project?: number): Promise<Verification> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // Verifying a long log takes longer than the default limit.
      await sql`SET LOCAL statement_timeout = 0`.execute(trx);
      if (project !== undefined) {
        const known = await trx.selectFrom('projects').select('id').where('id', '=', project).executeTakeFirst();
        if (known === undefined) throw new AdminError(`There is no project ${project}.`);
      }
      return verifyRecords(trx, project);
    });
}
