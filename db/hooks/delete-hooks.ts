// The hooks of a workflow or project go with it.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { isOf, type OfWorkflows } from '../workflows/of-workflows.js';

/** In the transaction that deletes the workflow or project, under the lock on the project's row. */
export async function deleteHooksOf(transaction: Db, of: OfWorkflows): Promise<void> {
  await sql`
    WITH deleted AS (DELETE FROM hooks WHERE ${isOf(of)} RETURNING id)
    DELETE FROM hook_windows WHERE hook_id IN (SELECT id FROM deleted)`.execute(transaction);
}
