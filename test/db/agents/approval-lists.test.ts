import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { explainRead } from '../../support/explain.js';
import { seedApprovals } from '../../support/seed-approvals.js';
import { listRequestsInReach, type ApprovalFilter } from '../../../db/agents/approval-requests-repository.js';
import type { Database } from '../../../db/core/client.js';
import { createAccount, type Account } from '../../api/accounts.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect } from '../open-run.js';

const REQUESTS = 20_000;
/** If the table had only two projects, the planner would expect half of the rows in each, and read all of it. */
const OTHER_PROJECTS = 10;

describe('lists of 20,000 approval requests', function () {
  this.timeout(120_000);
  let db: Database;
  let url: string;
  let many: Account;
  let few: Account;

  before(async () => {
    const stack = await sharedStack();
    url = stack.stack.database_url;
    db = await connect(1);
    [many, few] = [await createAccount(stack), await createAccount(stack)];
    const others = await Promise.all(Array.from({ length: OTHER_PROJECTS }, () => createAccount(stack)));
    const counts = [...others, few].map((account) => [account, 5] as const);
    for (const [account, count] of [[many, REQUESTS] as const, ...counts]) {
      const { runId } = await account.api.runToEnd(chain(1));
      await seedApprovals(db, { runId, count, pending: 5 });
    }
  });
  after(async () => {
    await sql`DELETE FROM approval_requests WHERE node_id = 'seeded'`.execute(db);
    await db.destroy();
  });

  async function planOf(account: Account, status: ApprovalFilter | undefined, offset = 0): Promise<string> {
    const query = { reach: account, status, limit: 10, offset };
    const read = (reader: Database): Promise<unknown> => listRequestsInReach(reader, query);
    return (await explainRead(url, read)).flatMap(({ plan }) => plan).join('\n');
  }

  /** The largest number of rows that one step reads from the table. If the total is 0, no page is read. */
  const mostRows = (plan: string): number => {
    const steps = [...plan.matchAll(/ on approval_requests\b.*actual rows=([\d.]+)/g)];
    assert.ok(steps.length >= 1, plan);
    return Math.max(...steps.map(([, count]) => Number(count)));
  };

  it('the inbox reads the pending ones alone, however many have been decided', async () => {
    const plan = await planOf(many, 'pending');
    assert.match(plan, /using approval_requests_pending/);
    assert.ok(mostRows(plan) <= 20, plan);
  });

  it('a page is found by an index of its project, and its total by that index alone', async () => {
    for (const status of [undefined, 'decided'] as const) {
      const plan = await planOf(many, status);
      assert.doesNotMatch(plan, /Seq Scan on approval_requests/);
      assert.match(plan, /Index Only Scan.* using approval_requests_newest/);
    }
  });

  it('what others have been asked costs a reader of few requests nothing', async () => {
    for (const status of [undefined, 'pending', 'decided', 'expired'] as const) {
      const plan = await planOf(few, status);
      assert.ok(mostRows(plan) <= 10, plan);
    }
  });
});
