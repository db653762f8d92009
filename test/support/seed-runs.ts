// Fills a database with finished runs for tests of lists.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../db/core/client.js';
import { storeSnapshot } from '../../db/runs/snapshots-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';

interface RunSeed {
  userId: number;
  /** The runs are distributed among these workflows in turn; all have the drawing of the first. */
  workflowIds: number[];
  runs: number;
}

/** A trigger and a model node. */
function seedDrawing(): Record<string, unknown> {
  const ids = [randomUUID(), randomUUID()];
  const nodes = ids.map((id, index) => ({
    id,
    type: index === 0 ? 'trigger-node' : 'basic-node',
    position: { x: 260 * index, y: 0 },
    data: {
      id,
      label: index === 0 ? 'Start' : 'Model',
      next_nodes: ids.slice(index + 1, index + 2),
      ...(index === 0
        ? { input_fields: [] }
        : { messages: [{ role: 'user', message: 'seeded' }], settings: { model_name: 'seeded', temperature: 0 } }),
    },
  }));
  return { nodes, edges: [], viewport: { x: 0, y: 0, zoom: 1 }, start_node: ids[0] };
}

/** Appends workflows to a project. Returns their ids. */
export async function seedWorkflows(
  db: Database,
  { projectId, userId, count }: { projectId: number; userId: number; count: number },
): Promise<number[]> {
  const document = JSON.stringify(seedDrawing());
  const { rows } = await sql<{ id: number }>`
    INSERT INTO workflows (project_id, author_id, title, sort_id, document, created_at)
    SELECT ${projectId}, ${userId}, 'Seeded workflow ' || number, last.sort_id + number, ${document}::json,
      now() - random() * interval '365 days'
    FROM generate_series(1, ${count}::integer) AS number,
      (SELECT coalesce(max(sort_id), 0) AS sort_id FROM workflows
        WHERE project_id = ${projectId} AND archived_at IS NULL) AS last
    RETURNING id`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Inserts finished runs (90 % succeeded) of the last 28 days (older ones would expire) with their node results and
 * transactions; sums of money agree. Triggers of transactions are off meanwhile, because 100,000 updates of one
 * project's row in one transaction take minutes. Turning them off requires a superuser of the database.
 */
export async function seedRuns(db: Database, { userId, workflowIds, runs }: RunSeed): Promise<void> {
  const workflow = await db
    .selectFrom('workflows')
    .select('document')
    .where('id', '=', workflowIds[0] ?? 0)
    .executeTakeFirstOrThrow();
  const compiled = compilePlan(workflow.document);
  if (!compiled.ok) throw new Error('the drawing of the first workflow does not run');
  const { plan } = compiled;
  const hash = await storeSnapshot(db, JSON.stringify(workflow.document), plan);
  await db.transaction().execute(async (transaction) => {
    await sql`
      CREATE TEMP TABLE seeded ON COMMIT DROP AS
      SELECT gen_random_uuid() AS id, workflow.id AS workflow_id, workflow.project_id, seeded.*
      FROM (
        SELECT number, (${workflowIds}::integer[])[1 + number % ${workflowIds.length}::integer] AS of_workflow,
          now() - random() * interval '28 days' AS created_at, random() * interval '120 seconds' AS took,
          (floor(random() * 1000000) / 100000000)::numeric AS cost,
          CASE WHEN number % 20 = 1 THEN 'Error' WHEN number % 20 = 2 THEN 'Cancelled' ELSE 'Succeeded' END AS status
        FROM generate_series(1, ${runs}::integer) AS number
      ) AS seeded JOIN workflows workflow ON workflow.id = seeded.of_workflow`.execute(transaction);
    await sql`
      INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, cost_usd, created_at,
        updated_at, run_started_at, run_finished_at)
      SELECT id, workflow_id, project_id, ${userId}, status, ${hash}, json_build_object('number', number), cost,
        created_at, created_at + took, created_at, created_at + took
      FROM seeded`.execute(transaction);
    const nodes = sql`unnest(${plan.ids}::text[], ${plan.kinds}::text[], ${plan.labels}::text[])
      WITH ORDINALITY AS node (id, kind, label, place)`;
    await sql`
      INSERT INTO node_results (run_id, path, node_id, status, result, result_bytes, started_at, finished_at)
      SELECT seeded.id, '', node.id, 'succeed', result, octet_length(result::text), created_at, created_at + took
      FROM seeded CROSS JOIN ${nodes}
        CROSS JOIN json_build_object('content', repeat('seeded ', 20)) AS result`.execute(transaction);
    // ALTER TABLE DISABLE TRIGGER is no alternative: its lock would block all other runs until the commit.
    await sql`SET LOCAL session_replication_role = replica`.execute(transaction);
    // The whole cost is the last node's.
    await sql`
      INSERT INTO billing_transactions (run_id, path, node_id, project_id, user_id, operation, status, amount_usd,
        description, created_at, updated_at)
      SELECT seeded.id, '', node.id, project_id, ${userId}, node.kind, 'Succeeded',
        CASE WHEN place = ${plan.ids.length}::integer THEN cost ELSE 0 END, node.label, created_at, created_at + took
      FROM seeded CROSS JOIN ${nodes}`.execute(transaction);
    await sql`SET LOCAL session_replication_role = origin`.execute(transaction);
    await sql`
      INSERT INTO provider_calls (run_id, path, node_id, state, provider, model, input_tokens, output_tokens, price_usd,
        sent_at, replied_at)
      SELECT seeded.id, '', node.id, 'applied', 'seeded', 'seeded', 100, 10, 0, created_at, created_at + took
      FROM seeded CROSS JOIN ${nodes} WHERE node.kind = 'llm'`.execute(transaction);
    await sql`
      UPDATE projects SET total_spent_usd = total_spent_usd + spent.usd
      FROM (SELECT project_id, sum(cost) AS usd FROM seeded GROUP BY project_id) AS spent
      WHERE id = spent.project_id`.execute(transaction);
  });
  // Autovacuum would do this later; right after a bulk load there are neither statistics nor a visibility map.
  await sql`VACUUM (ANALYZE) runs, node_results, provider_calls, billing_transactions, workflows`.execute(db);
}
