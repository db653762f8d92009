import assert from 'node:assert/strict';
import { explainRead } from '../../support/explain.js';
import { seedRuns, seedWorkflows } from '../../support/seed-runs.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { readUsage, type UsageGroup } from '../../../db/spending/usage-repository.js';
import type { HistoryOrdering } from '../../../db/runs/history-repository.js';
import { listRuns, type RunsQuery } from '../../../db/runs/runs-list-repository.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, type Account } from '../../api/accounts.js';

const RUNS = 20_000;
const WORKFLOWS = 200;
const DAY_MS = 86_400_000;

describe('20,000 runs of 200 workflows in four projects', function () {
  this.timeout(180_000);
  let url: string;
  let db: Database;
  let account: Account;
  let small: Account;
  let workflowIds: number[];
  let everything: RunsQuery;

  before(async () => {
    const stack = await sharedStack();
    url = stack.stack.database_url;
    db = createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    [account, small] = [await createAccount(stack), await createAccount(stack)];
    const { userId } = account;
    workflowIds = [];
    for (let project = 0; project < 4; project += 1) {
      const projectId = await account.api.createProject();
      workflowIds.push(...(await seedWorkflows(db, { projectId, userId, count: WORKFLOWS / 4 })));
    }
    const projectId = await small.api.createProject();
    const few = await seedWorkflows(db, { projectId, userId: small.userId, count: 2 });
    await seedRuns(db, { userId: small.userId, workflowIds: few, runs: 20 });
    await seedRuns(db, { userId, workflowIds, runs: RUNS });
    everything = {
      purpose: 'run',
      isWaiting: false,
      reach: { userId },
      projectId: undefined,
      workflowId: undefined,
      status: undefined,
      search: undefined,
      startedFrom: undefined,
      startedBefore: undefined,
      ordering: '-created_at',
      limit: 10,
      offset: 0,
    };
  });
  after(() => db.destroy());

  const planOf = async (read: (reader: Database) => Promise<unknown>): Promise<string> =>
    (await explainRead(url, read)).flatMap(({ plan }) => plan).join('\n');
  const usageOf = (userId: number, groupBy: UsageGroup) => ({
    reach: { userId },
    projectId: undefined,
    groupBy,
    from: new Date(Date.now() - 30 * DAY_MS),
    until: new Date(),
  });

  for (const ordering of ['created_at', '-created_at', 'cost', '-cost'] satisfies HistoryOrdering[]) {
    it(`are listed by ${ordering} from the index of their workflows, whichever page`, async () => {
      for (const offset of [0, RUNS / 2, RUNS - 10]) {
        const plan = await planOf((reader) => listRuns(reader, { ...everything, ordering, offset }));
        // A page in the middle needs all runs of a workflow: the planner may read them by a bitmap of the same index.
        assert.match(plan, /(using|on) runs_history/, plan);
        assert.doesNotMatch(plan, /Seq Scan on runs|external merge/);
      }
    });
  }

  it('the first and the last page read a few runs of each workflow', async () => {
    for (const offset of [0, RUNS - 10]) {
      const plan = await planOf((reader) => listRuns(reader, { ...everything, offset }));
      const scanned = [...plan.matchAll(/using runs_history\S* on runs.*actual rows=([\d.]+)/g)].map(([, n]) =>
        Number(n),
      );
      assert.ok(scanned.length > 0 && Math.max(...scanned) <= 10, plan);
    }
  });

  it('are counted without a look at each of them, unless something is asked of the runs themselves', async () => {
    const { total } = await listRuns(db, everything);
    assert.equal(total, RUNS);
    const [counted] = await explainRead(url, (reader) => listRuns(reader, everything));
    assert.doesNotMatch(counted!.plan.join('\n'), / on runs/);
    const [filtered] = await explainRead(url, (reader) => listRuns(reader, { ...everything, status: 'Error' }));
    assert.match(filtered!.plan.join('\n'), /Index Only Scan using runs_history/);
    assert.doesNotMatch(filtered!.plan.join('\n'), /Seq Scan on runs/);
  });

  for (const groupBy of ['day', 'project', 'workflow', 'model', 'node_kind'] satisfies UsageGroup[]) {
    it(`usage by ${groupBy} of somebody else reads no row of theirs`, async () => {
      const plan = await planOf((reader) => readUsage(reader, usageOf(small.userId, groupBy)));
      assert.match(plan, /billing_transactions_of_project/, plan);
      assert.match(plan, /provider_calls_pkey/);
      assert.doesNotMatch(plan, /Seq Scan on (runs|billing_transactions|provider_calls)/);
    });
  }

  it('usage adds up to the seeded runs, calls and tokens', async () => {
    const rows = await readUsage(db, usageOf(account.userId, 'project'));
    const sum = (of: 'runs' | 'calls' | 'inputTokens' | 'outputTokens'): number =>
      rows.reduce((all, row) => all + row[of], 0);
    assert.deepEqual(
      [rows.length, sum('runs'), sum('calls'), sum('inputTokens'), sum('outputTokens')],
      [4, RUNS, RUNS, RUNS * 100, RUNS * 10],
    );
  });
});
