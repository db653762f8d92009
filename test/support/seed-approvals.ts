// Gives a run approval requests for tests of lists: the newest are pending, the others decided.
import { sql } from 'kysely';
import type { Database } from '../../db/core/client.js';

interface ApprovalSeed {
  runId: string;
  count: number;
  /** The number of requests that nobody has answered yet. */
  pending: number;
}

export async function seedApprovals(db: Database, { runId, count, pending }: ApprovalSeed): Promise<void> {
  await sql`
    INSERT INTO approval_requests (request_id, run_id, project_id, node_id, turn, ordinal, server_label, tool_name,
      arguments, status, decided_by, decided_at, signalled_at, created_at, expires_at)
    SELECT gen_random_uuid()::text, run.id, run.project_id, 'seeded', number, 0, 'tools', 'add', '{"a": 1, "b": 2}',
      CASE WHEN number <= ${pending}::integer THEN 'pending' WHEN number % 3 = 0 THEN 'rejected' ELSE 'approved' END,
      CASE WHEN number > ${pending}::integer THEN run.user_id END,
      CASE WHEN number > ${pending}::integer THEN now() - number * interval '1 minute' END, now(),
      now() - number * interval '1 minute', now() + interval '1 day'
    FROM runs run, generate_series(1, ${count}::integer) AS number WHERE run.id = ${runId}`.execute(db);
  // Autovacuum would do this later; right after a bulk load there are neither statistics nor a visibility map.
  await sql`VACUUM (ANALYZE) approval_requests`.execute(db);
}
