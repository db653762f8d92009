import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { explainRead } from '../../support/explain.js';
import { seedRuns, seedWorkflows } from '../../support/seed-runs.js';
import { listRunTransactions } from '../../../db/spending/billing-repository.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { listHistory, type HistoryOrdering } from '../../../db/runs/history-repository.js';
import { readRunForPoll } from '../../../db/runs/poll-repository.js';
import { countKeyRequests } from '../../../db/access/rate-limits-repository.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';

const RUNS = 20_000;
const retentionDays = 30;

describe('lists of a workflow with 20,000 runs', function () {
  this.timeout(120_000);
  let url: string;
  let db: Database;
  let api: ApiClient;
  let userId: number;
  let apiKey: string;
  let projectId: number;
  let workflowId: number;

  before(async () => {
    const stack = await sharedStack();
    url = stack.stack.database_url;
    userId = stack.stack.user_id;
    api = createApiClient(stack.apiUrl, stack.apiKey);
    db = createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    apiKey = stack.apiKey;
    await sql`ANALYZE runs, node_results`.execute(db);
    await poll(10);
    projectId = await api.createProject();
    [workflowId = 0] = await seedWorkflows(db, { projectId, userId, count: 1 });
    await seedRuns(db, { userId, workflowIds: [workflowId], runs: RUNS });
  });
  after(() => db.destroy());

  const poll = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      await countKeyRequests(db, apiKey, 1);
      await readRunForPoll(db, { runId: randomUUID(), userId }, 30);
    }
  };
  const planOf = async (read: (reader: Database) => Promise<unknown>): Promise<string> =>
    (await explainRead(url, read)).flatMap(({ plan }) => plan).join('\n');

  for (const ordering of ['created_at', '-created_at', 'cost', '-cost'] satisfies HistoryOrdering[]) {
    it(`history by ${ordering} finds every page by index alone: nothing is counted, sorted or scanned`, async () => {
      for (const offset of [0, RUNS / 2, RUNS - 10]) {
        const plan = await planOf((reader) =>
          listHistory(reader, { workflowId, purpose: 'run', ordering, limit: 10, offset, retentionDays }),
        );
        assert.match(plan, /Index Only Scan.* using runs_history/);
        assert.doesNotMatch(plan, /Seq Scan on (runs|node_results)/);
        assert.doesNotMatch(plan, /external merge|rows=20000/);
      }
    });
  }

  it('polls go on with the plan that their connection has made, although the tables have grown since', async () => {
    await sql`ANALYZE runs, node_results`.execute(db);
    await poll(30);
    const { rows } = await sql<{ custom: number; generic: number }>`
      SELECT custom_plans::integer AS custom, generic_plans::integer AS generic FROM pg_prepared_statements
      WHERE statement ~ 'rate_limits|WITH ORDINALITY AS asked'`.execute(db);
    const planned = { custom: 0, generic: 40 };
    assert.deepEqual(rows, [planned, planned]);
  });

  it('the last page reads as little as the first', async () => {
    const { ordering, limit } = { ordering: 'cost', limit: 10 } as const;
    const plan = await planOf((reader) =>
      listHistory(reader, { workflowId, purpose: 'run', ordering, limit, offset: RUNS - 10, retentionDays }),
    );
    const rows = [...plan.matchAll(/actual rows=([\d.]+)/g)].map(([, count]) => Number(count));
    assert.ok(rows.length > 5 && Math.max(...rows) <= 2 * limit, `up to ${Math.max(...rows)} rows`);
  });

  it('billing finds the transactions of a run by index', async () => {
    const page = { ordering: 'cost', limit: 1, offset: 0, retentionDays } as const;
    const { runs } = await listHistory(db, { workflowId, purpose: 'run', ...page });
    const query = { runId: runs[0]!.id, reach: { userId }, limit: 10, offset: 0 };
    const plan = await planOf((reader) => listRunTransactions(reader, query));
    assert.doesNotMatch(plan, /Seq Scan on (runs|billing_transactions)/);
  });

  it('seeded money agrees in every view, as it does in real runs', async () => {
    const project = (await api.get<{ total_spent: Record<string, string> }>(`/projects/${projectId}/`)).body;
    const sums = await db
      .selectFrom('runs')
      .select((eb) => eb.fn.sum<string>('cost_usd').as('cost'))
      .where('project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    const paid = await db
      .selectFrom('billing_transactions')
      .select((eb) => eb.fn.sum<string>('amount_usd').as('cost'))
      .where('project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    assert.equal(Number(project.total_spent['USD']), Number(sums.cost));
    assert.deepEqual(paid, sums);
    const { body } = await api.get<{ total: number }>(`/workflows/${workflowId}/history/?page=1500`);
    assert.equal(body.total, RUNS);
  });
});
