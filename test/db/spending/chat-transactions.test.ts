import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../db/core/client.js';
import { readUsage } from '../../../db/spending/usage-repository.js';
import { endChatCall, type ChatEnd } from '../../../db/spending/chat-calls-repository.js';
import { listChatTransactions } from '../../../db/spending/chat-transactions-repository.js';
import { connect, openRun, type OpenRun } from '../open-run.js';

describe('transactions of the chat proxy', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  async function member(): Promise<OpenRun> {
    const run = await openRun(db, ['llm']);
    const row = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
    await db
      .insertInto('project_members')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return run;
  }
  async function ended({ projectId, userId }: OpenRun, end: Partial<ChatEnd> = {}): Promise<string> {
    const id = randomUUID();
    const call = { id, projectId, userId, processId: randomUUID(), provider: 'p', model: 'm', priceVersion: 'v' };
    const good = { amountUsd: '0.1', isEstimated: false, reason: '', inputTokens: 1, outputTokens: 2 };
    await endChatCall(db, call, { status: 'Succeeded', ...good, ...end });
    return id;
  }

  it('are read page by page, the newest first, of one project and of all', async () => {
    const runs = [await member(), await member()];
    const ids: string[] = [];
    for (let call = 0; call < 7; call++) ids.unshift(await ended(runs[call % 2]!));
    const { userId, projectId } = runs[0]!;
    const page = async (project: number | undefined, limit: number, offset: number): Promise<[number, string[]]> => {
      const query = { reach: { userId, projectId: undefined }, projectId: project, limit, offset };
      const { total, transactions } = await listChatTransactions(db, query);
      return [total, transactions.map(({ id }) => id)];
    };
    const own = ids.filter((_, index) => index % 2 === 0);
    assert.deepEqual(await page(projectId, 3, 0), [4, own.slice(0, 3)]);
    assert.deepEqual(await page(projectId, 3, 3), [4, own.slice(3)]);
    assert.deepEqual(await page(projectId, 3, 6), [4, []]);
    assert.deepEqual((await page(undefined, 3, 0))[1], ids.slice(0, 3));
    assert.deepEqual((await page(undefined, 4, 3))[1], ids.slice(3));
  });

  it('count as estimated calls of the usage only where they count as calls', async () => {
    const { userId, projectId } = await member();
    const run = { userId, projectId, id: '', nodeIds: [] };
    await ended(run, { isEstimated: true });
    await ended(run, { isEstimated: true, status: 'Error', amountUsd: '0' });
    const [from, until] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
    const reach = { userId, projectId: undefined };
    const [row] = await readUsage(db, { reach, projectId, groupBy: 'node_kind', from, until });
    assert.deepEqual([row!.calls, row!.estimatedCalls], [1, 1]);
  });
});
