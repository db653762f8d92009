import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { withAdvisoryLock } from '../../../db/core/advisory-lock.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { readServiceFigures } from '../../../db/observability/metrics-repository.js';
import { countExpirableRuns, expireRuns, purgeRuns } from '../../../db/retention/retention-repository.js';
import { deleteOrphanedSnapshots, storeSnapshot } from '../../../db/runs/snapshots-repository.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { openRetention, type RetentionBench } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

const RUNS = 10_000;
const OLD = 2_000;
const DAYS = 30;

/** Copies a finished run, with its results and transactions. */
const COPIES = `
  WITH copies AS (SELECT gen_random_uuid() AS id FROM generate_series(1, $2::integer)), inserted AS (
    INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, run_started_at, run_finished_at)
    SELECT copies.id, workflow_id, project_id, user_id, status, snapshot_hash, input, run_started_at, run_finished_at
    FROM copies, runs WHERE runs.id = $1
  ), results AS (
    INSERT INTO node_results (run_id, path, node_id, status, result, result_bytes, finished_at)
    SELECT copies.id, path, node_id, status, result, result_bytes, finished_at FROM copies, node_results WHERE run_id = $1
  )
  INSERT INTO billing_transactions (run_id, path, node_id, project_id, user_id, operation, status)
  SELECT copies.id, path, node_id, project_id, user_id, operation, status FROM copies, billing_transactions WHERE run_id = $1`;

interface Counts {
  expired: number;
  pending: number;
  contents: number;
  nodes: number;
  paid: number;
}

describe('retention with 10,000 runs, 2,000 of them old', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let retention: RetentionBench;
  let db: Database;
  let workflowId: number;
  /** Every statement that a repository function has sent, with its parameters. */
  let sent: { sql: string; parameters: readonly unknown[] }[] = [];

  before(async () => {
    stack = await sharedStack();
    retention = openRetention(stack);
    const options = { poolMax: 2, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.stack.database_url, ...options });
    const { workflowId: id, runId } = await createApiClient(stack.apiUrl, stack.apiKey).runToEnd(chain(2));
    workflowId = id;
    await queryDatabase(stack, COPIES, [runId, RUNS - 1]);
    await queryDatabase(stack, 'ANALYZE runs, node_results');
  });
  after(async () => {
    await retention.close();
    await db.destroy();
  });

  const age = () =>
    queryDatabase(
      stack,
      `UPDATE runs SET run_finished_at = now() - interval '40 days' - random() * interval '1 day' WHERE id IN (
         SELECT id FROM runs WHERE workflow_id = $1 AND results_expired_at IS NULL LIMIT $2)`,
      [workflowId, OLD],
    );
  const count = async (): Promise<Counts> => {
    const text = `SELECT count(DISTINCT run.id) FILTER (WHERE results_expired_at IS NOT NULL)::integer AS expired,
        count(DISTINCT run.id) FILTER (WHERE is_purge_pending)::integer AS pending,
        count(*) FILTER (WHERE result IS NOT NULL)::integer AS contents, count(*)::integer AS nodes,
        (SELECT count(*)::integer FROM billing_transactions paid JOIN runs own ON own.id = paid.run_id
          WHERE own.workflow_id = $1) AS paid
      FROM runs run JOIN node_results node ON node.run_id = run.id WHERE workflow_id = $1`;
    return (await queryDatabase<Counts>(stack, text, [workflowId]))[0]!;
  };

  describe('finds what is due by index alone', () => {
    /** The plans of all statements of `use`, without executing them again. */
    const plansOf = async (use: (observed: Database) => Promise<unknown>): Promise<string> => {
      sent = [];
      const observed = observe(db, (statement) => sent.push(statement));
      await use(observed);
      const plans: string[] = [];
      for (const { sql, parameters } of sent) {
        if (!/^\s*(select|with|update|delete)/i.test(sql)) continue;
        const rows = await queryDatabase<{ 'QUERY PLAN': string }>(stack, `EXPLAIN (COSTS OFF) ${sql}`, [
          ...parameters,
        ]);
        plans.push(...rows.map((row) => row['QUERY PLAN']));
      }
      return plans.join('\n');
    };
    const large = /Seq Scan on (runs|node_results|billing_transactions|provider_calls|agent_\w+|approval_requests)/;

    it('runs whose results expire, and how many they are', async () => {
      const plan = await plansOf(async (observed) => {
        await expireRuns(observed, DAYS, 0);
        await countExpirableRuns(observed, DAYS, 10_000);
      });
      assert.equal(plan.match(/using runs_to_expire|on runs_to_expire/g)?.length, 2, plan);
      assert.doesNotMatch(plan, large);
    });

    it('runs whose contents are to be deleted, and those contents', async () => {
      const [run] = await queryDatabase<{ id: string }>(stack, 'SELECT id FROM runs WHERE workflow_id = $1 LIMIT 1', [
        workflowId,
      ]);
      const undone = new Error('undone');
      const plan = await plansOf(async (observed) => {
        const work = observed.transaction().execute(async (trx) => {
          const pending = { results_expired_at: new Date(0), is_purge_pending: true };
          await trx.updateTable('runs').set(pending).where('id', '=', run!.id).execute();
          await purgeRuns(trx, 500);
          throw undone;
        });
        await work.catch((error: unknown) => assert.equal(error, undone));
      });
      assert.match(plan, /runs_to_purge/);
      assert.match(plan, /node_results_pkey/);
      assert.doesNotMatch(plan, /Seq Scan on (runs|node_results)/);
    });

    it('graphs that nothing refers to, and the figures for metrics', async () => {
      const orphan = await storeSnapshot(db, `"${randomUUID()}"`, {
        ids: [],
        kinds: [],
        labels: [],
        out: [],
        indegree: [],
      });
      await queryDatabase(stack, "UPDATE graph_snapshots SET created_at = now() - interval '2 h' WHERE hash = $1", [
        orphan,
      ]);
      const plan = await plansOf(async (observed) => {
        await observed.transaction().execute((trx) => deleteOrphanedSnapshots(trx, null, 500));
        await readServiceFigures(observed, DAYS);
      });
      assert.match(plan, /runs_snapshot/);
      assert.doesNotMatch(plan, large);
    });
  });

  it('a batch that dies leaves nothing behind, and SIGTERM in the middle ends the process in time', async () => {
    const before = await count();
    await age();
    const died = new Error('died');
    const attempt = () =>
      withAdvisoryLock(db, 'retention', async (trx) => {
        await expireRuns(trx, DAYS, 500);
        await purgeRuns(trx, 500);
        throw died;
      }).catch((error: unknown) => error === died);
    await eventually(attempt);
    assert.deepEqual(await count(), before);

    const cut = await startApiProcess(stack);
    await eventually(async () => (await count()).expired > before.expired, { intervalMs: 5 });
    const startedAt = performance.now();
    assert.equal(await cut.stop(), 0);
    assert.ok(performance.now() - startedAt < 15_000);
    const halfway = await count();
    assert.deepEqual([halfway.nodes, halfway.paid], [before.nodes, before.paid]);

    await retention.round();
    const after = await count();
    assert.deepEqual([after.expired - before.expired, after.pending], [OLD, 0]);
    assert.deepEqual([after.nodes, after.paid], [before.nodes, before.paid]);
    assert.equal(before.contents - after.contents, (OLD * before.nodes) / RUNS);
    assert.equal(await countExpirableRuns(db, DAYS, 10_000), 0);
  });

  it('rounds of several processes at once do everything once', async () => {
    const before = await count();
    await age();
    const benches = [openRetention(stack), openRetention(stack)];
    try {
      await Promise.all(benches.map(({ round }) => round()));
      const after = await count();
      assert.deepEqual([after.expired - before.expired, after.pending], [OLD, 0]);
      const counted = await Promise.all(
        benches.map(async ({ metrics }) => {
          const { values } = await metrics.retention.expired.get();
          return values.find(({ labels }) => labels.table === 'runs')?.value ?? 0;
        }),
      );
      assert.ok(counted[0]! + counted[1]! <= OLD, counted.join());
    } finally {
      await Promise.all(benches.map(({ close }) => close()));
    }
  });

  it('keys and settled events go with age, more than a batch of them; pending events never', async () => {
    const [run] = await queryDatabase<{ id: string; project_id: number }>(
      stack,
      'SELECT id, project_id FROM runs WHERE workflow_id = $1 LIMIT 1',
      [workflowId],
    );
    const mark = randomUUID();
    await queryDatabase(
      stack,
      `INSERT INTO idempotency_keys (user_id, key, request_enc, run_id, created_at)
       SELECT $1, $2 || number, '\\x00', $3, now() - number * interval '1 minute' FROM generate_series(0, 2399) AS number`,
      [stack.stack.user_id, mark, run!.id],
    );
    await queryDatabase(
      stack,
      `INSERT INTO webhook_deliveries (project_id, run_id, type, payload, status, next_attempt_at, created_at)
       SELECT $1, $2, $3, '', CASE WHEN number % 3 = 0 THEN 'pending' ELSE 'delivered' END,
         CASE WHEN number % 3 = 0 THEN now() + interval '1 day' END, now() - interval '31 days'
       FROM generate_series(1, 900) AS number`,
      [run!.project_id, run!.id, mark],
    );
    await retention.round();
    const left = await queryDatabase<{ keys: number; delivered: number; pending: number }>(
      stack,
      `SELECT (SELECT count(*)::integer FROM idempotency_keys WHERE key LIKE $1 || '%') AS keys,
        count(*) FILTER (WHERE status = 'delivered')::integer AS delivered,
        count(*) FILTER (WHERE status = 'pending')::integer AS pending
       FROM webhook_deliveries WHERE type = $1`,
      [mark],
    );
    await queryDatabase(stack, 'DELETE FROM webhook_deliveries WHERE type = $1', [mark]);
    // The newest 24 hours remain, with one key a minute; the clock goes on during the round.
    assert.ok(left[0]!.keys <= 1440 && left[0]!.keys > 1430, String(left[0]!.keys));
    assert.deepEqual([left[0]!.delivered, left[0]!.pending], [0, 300]);
  });
});

/** Returns the same database, and reports each statement to `tell`. */
function observe(db: Database, tell: (statement: { sql: string; parameters: readonly unknown[] }) => void): Database {
  return db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      const { sql, parameters } = db.getExecutor().compileQuery(node, queryId);
      tell({ sql, parameters });
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}
