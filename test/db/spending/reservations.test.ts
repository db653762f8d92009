import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { saveTurn } from '../../../db/agents/agent-repository.js';
import { recordPaidEnd } from '../../../db/agents/agent-charges.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { markCallCut, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import { readUsage } from '../../../db/spending/usage-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import {
  startChatCall,
  endChatCall,
  endDeadChatCalls,
  type ChatCall,
} from '../../../db/spending/chat-calls-repository.js';
import { claimPaidCall, type PassedLimit } from '../../../db/spending/reserve-call.js';
import { deleteOldStops } from '../../../db/retention/retention-repository.js';
import { listStops, readReserved } from '../../../db/spending/spending-repository.js';
import { connect, nodeEnd, openRun, paidCall, type OpenRun } from '../open-run.js';

const CANCELLED = { status: 'cancelled' as const, error: { code: 'cancelled', message: 'Cancelled.' } };

describe('reservations of money', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect(20);
  });
  after(() => db.destroy());

  const limit = async ({ projectId }: OpenRun, amount: string | null, period = 'total'): Promise<void> => {
    const limited = amount === null ? null : period;
    await sql`UPDATE projects SET spending_limit_usd = ${amount}, spending_period = ${limited} WHERE id = ${projectId}`.execute(
      db,
    );
  };
  const claim = (run: OpenRun, node = 0, reservedUsd = '0.1', turn = 0) =>
    claimPaidCall(db, {
      runId: run.id,
      path: '',
      nodeId: run.nodeIds[node]!,
      turn,
      provider: 'p',
      model: 'm',
      mayRepeat: true,
      projectId: run.projectId,
      reservedUsd,
      reservedTokens: { input: 10, output: 20 },
      maxCostUsd: null,
    });
  const isRefused = (answer: object | undefined): answer is PassedLimit => answer !== undefined && 'limited' in answer;
  const end = (run: OpenRun, node: number, amountUsd: string) =>
    recordPaidEnd(db, nodeEnd(run, run.nodeIds[node]!, 'llm'), paidCall(amountUsd));
  const figures = async ({ projectId }: OpenRun): Promise<{ spent: string; reserved: string }> => {
    const { usd } = await readReserved(db, projectId);
    const { rows } = await sql<{ spent: string }>`
      SELECT spent_in_period(projects, clock_timestamp()) AS spent FROM projects WHERE id = ${projectId}`.execute(db);
    return { spent: rows[0]!.spent, reserved: usd };
  };
  const transactionsOf = async (run: OpenRun): Promise<[string, string, boolean][]> => {
    const columns = ['status', 'amount_usd', 'is_estimated'] as const;
    const rows = await db.selectFrom('billing_transactions').select(columns).where('run_id', '=', run.id).execute();
    return rows.map((row) => [row.status, row.amount_usd, row.is_estimated]);
  };
  const usageOf = (run: OpenRun) => ({
    reach: { userId: run.userId, projectId: undefined },
    projectId: run.projectId,
    from: new Date(Date.now() - 86_400_000),
    until: new Date(Date.now() + 86_400_000),
  });
  const chatCall = (run: OpenRun, reservedUsd = '0.1'): ChatCall & { reservedUsd: string } => ({
    id: randomUUID(),
    projectId: run.projectId,
    userId: run.userId,
    processId: randomUUID(),
    provider: 'p',
    model: 'm',
    priceVersion: 'v',
    reservedUsd,
  });
  const begin = (call: ChatCall & { reservedUsd: string }, leaseSeconds = 60) =>
    startChatCall(db, { ...call, inputTokens: 1, outputTokens: 2, leaseSeconds });

  it('of 200 calls at once, of nodes and of the chat proxy, exactly as many pass as the limit has room for', async () => {
    const run = await openRun(
      db,
      Array.from({ length: 150 }, () => 'llm' as const),
    );
    await limit(run, '5.0000000000000001');
    const nodes = run.nodeIds.map(async (_, node) => isRefused(await claim(run, node)));
    const chats = Array.from({ length: 50 }, async () => (await begin(chatCall(run))) !== undefined);
    const refused = (await Promise.all([...nodes, ...chats])).filter(Boolean).length;
    assert.equal(200 - refused, 50);
    assert.deepEqual(await figures(run), { spent: '0', reserved: '5.0' });
  });

  it('become what was paid in one step, to the last digit, and room that was not used is free again', async () => {
    const run = await openRun(db, ['llm', 'llm', 'llm']);
    await limit(run, '0.25');
    assert.ok(!isRefused(await claim(run, 0)));
    assert.ok(!isRefused(await claim(run, 1)));
    const refused = await claim(run, 2);
    assert.ok(isRefused(refused));
    assert.deepEqual(refused, {
      limited: 'project',
      limitUsd: '0.25',
      period: 'total',
      spentUsd: '0',
      reservedUsd: '0.2',
    });
    await end(run, 0, '0.050000000000000000000001');
    assert.deepEqual(await figures(run), { spent: '0.050000000000000000000001', reserved: '0.1' });
    assert.ok(isRefused(await claim(run, 2)), 'by one digit at the end');
    await limit(run, '0.250000000000000000000001');
    assert.ok(!isRefused(await claim(run, 2)), 'the limit itself may be reached');
  });

  it('of a repeated call are taken once, and a call that was refused by the provider frees its own', async () => {
    const run = await openRun(db, ['llm', 'llm']);
    await limit(run, '0.15');
    assert.ok(!isRefused(await claim(run, 0)));
    assert.deepEqual(await claim(run, 0), { isAllowed: true, attempts: 2, crashes: 1, hasReaders: false });
    assert.equal((await figures(run)).reserved, '0.1');
    assert.ok(isRefused(await claim(run, 1)));
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    for (const mark of [markCallRefused, markCallCut]) {
      await mark(db, { ...key, attempt: 1 });
      assert.equal(
        (await figures(run)).reserved,
        '0.1',
        'a later attempt owns the call, so the first one changes nothing',
      );
    }
    await markCallRefused(db, { ...key, attempt: 2 });
    assert.equal((await figures(run)).reserved, '0');
    assert.ok(!isRefused(await claim(run, 1)));
  });

  it('of a call that is cut off are charged as estimated, each attempt once, and limits count them at once', async () => {
    const run = await openRun(db, ['llm', 'llm']);
    await limit(run, '0.35');
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, key);
    for (const attempt of [1, 2]) {
      assert.deepEqual(await claim(run, 0), { isAllowed: true, attempts: attempt, crashes: 0, hasReaders: false });
      for (let repeat = 0; repeat < 2; repeat++) await markCallCut(db, { ...key, attempt });
      assert.deepEqual(await figures(run), { spent: '0', reserved: `0.${attempt}` });
    }
    assert.deepEqual(await claim(run, 0), { isAllowed: true, attempts: 3, crashes: 0, hasReaders: false });
    assert.ok(isRefused(await claim(run, 1)));
    for (let repeat = 0; repeat < 2; repeat++) {
      await recordPaidEnd(db, nodeEnd(run, key.nodeId, 'llm'), paidCall('0.03', { attempt: 3 }));
      assert.deepEqual(await figures(run), { spent: '0.23', reserved: '0' });
    }
    assert.deepEqual(await transactionsOf(run), [['Succeeded', '0.23', true]]);
    const member = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
    await db.insertInto('project_members').values(member).execute();
    const [usage] = await readUsage(db, { ...usageOf(run), groupBy: 'node_kind' });
    assert.deepEqual([usage?.calls, usage?.estimatedCalls, usage?.inputTokens, usage?.outputTokens], [3, 2, 21, 42]);
  });

  it('do not change by the late answer of an earlier attempt: the call of the latest attempt is charged, and once', async () => {
    const run = await openRun(db, ['llm']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await limit(run, '1');
    await claimNode(db, key);
    await claim(run, 0);
    await claim(run, 0);
    await recordPaidEnd(db, nodeEnd(run, key.nodeId, 'llm'), paidCall('0.02'));
    assert.deepEqual(await transactionsOf(run), [['Succeeded', '0.1', true]], 'the second call is on the wire');
    for (let repeat = 0; repeat < 2; repeat++) {
      await recordPaidEnd(db, nodeEnd(run, key.nodeId, 'llm'), paidCall('0.03', { attempt: 2 }));
      assert.deepEqual(await transactionsOf(run), [['Succeeded', '0.03', false]]);
    }
    assert.deepEqual(await figures(run), { spent: '0.03', reserved: '0' });
  });

  it('are charged with the end of the run, however it ends, until the answer comes', async () => {
    const run = await openRun(db, ['llm']);
    await limit(run, '1');
    await claimNode(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! });
    await claim(run, 0);
    assert.equal((await figures(run)).reserved, '0.1');
    await endRun(db, run.id, CANCELLED);
    assert.deepEqual(await figures(run), { spent: '0.1', reserved: '0' });
    assert.deepEqual(await transactionsOf(run), [['Error', '0.1', true]]);
    assert.equal(await claim(run, 0), undefined, 'no call of an ended run can be claimed');
    assert.deepEqual(await figures(run), { spent: '0.1', reserved: '0' });
    for (const amount of ['0.07', '0.07']) {
      await end(run, 0, amount);
      assert.deepEqual(await figures(run), { spent: '0.07', reserved: '0' }, 'the actual cost replaces the estimate');
      assert.deepEqual(await transactionsOf(run), [['Error', '0.07', false]]);
    }
  });

  it('of a call whose late answer costs nothing are given back to the last digit', async () => {
    const run = await openRun(db, ['llm']);
    await limit(run, '1');
    await claimNode(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! });
    await claim(run, 0);
    await endRun(db, run.id, CANCELLED);
    await end(run, 0, '0');
    assert.deepEqual(await figures(run), { spent: '0.0', reserved: '0' });
  });

  it('hold what the turns of an agent have cost until the agent ends', async () => {
    const run = await openRun(db, ['agent']);
    await limit(run, '0.2');
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, key);
    const turn = async (number: number, priceUsd: string): Promise<void> => {
      assert.ok(!isRefused(await claim(run, 0, '0.1', number)));
      const said = { isFinal: false, messageEnc: Buffer.from('sealed'), toolCalls: [] };
      await saveTurn(db, { ...key, nodeLabel: 'an agent', ...paidCall(priceUsd, { turn: number }), ...said });
    };
    await turn(0, '0.06');
    assert.deepEqual(await figures(run), { spent: '0', reserved: '0.06' });
    await turn(1, '0.07');
    assert.ok(isRefused(await claim(run, 0, '0.1', 2)));
    await recordPaidEnd(db, nodeEnd(run, run.nodeIds[0]!, 'agent'));
    assert.deepEqual(await figures(run), { spent: '0.13', reserved: '0' });
  });

  it('of a project without a limit are known once it gets one, and nothing is refused before', async () => {
    const run = await openRun(db, ['llm', 'llm', 'llm']);
    assert.ok(!isRefused(await claim(run, 0, '100')));
    await limit(run, '100.05');
    assert.ok(isRefused(await claim(run, 1)));
    await limit(run, null);
    assert.ok(!isRefused(await claim(run, 1)));
    await limit(run, '0');
    assert.ok(!isRefused(await claim(run, 2, '0')), 'what costs nothing is never stopped');
  });

  it('of chat calls end in a transaction once; those of a dead process are charged as estimated', async () => {
    const run = await openRun(db, ['llm']);
    await limit(run, '1');
    const [used, dead] = [chatCall(run), chatCall(run, '0.3')];
    assert.equal(await begin(used), undefined);
    assert.equal(await begin(dead, -1), undefined);
    const ended = {
      status: 'Succeeded' as const,
      amountUsd: '0.02',
      isEstimated: false,
      reason: '',
      inputTokens: 3,
      outputTokens: 4,
    };
    for (let repeat = 0; repeat < 2; repeat++) await endChatCall(db, used, ended);
    assert.deepEqual(await figures(run), { spent: '0.02', reserved: '0.3' });
    await Promise.all([endDeadChatCalls(db), endDeadChatCalls(db)]);
    assert.deepEqual(await figures(run), { spent: '0.32', reserved: '0' });
    await endChatCall(db, dead, ended);
    assert.deepEqual(
      await figures(run),
      { spent: '0.32', reserved: '0' },
      'the late end of a call that was already charged changes nothing',
    );
    const { rows } = await sql<{ amount_usd: string; is_estimated: boolean }>`
      SELECT amount_usd, is_estimated FROM billing_transactions WHERE id = ${dead.id}`.execute(db);
    assert.deepEqual(rows, [{ amount_usd: '0.3', is_estimated: true }]);
  });

  it('a call that is too large for the whole limit is stopped, and does not tell that the budget is reached', async () => {
    const run = await openRun(db, ['llm', 'llm', 'llm']);
    const told = async (): Promise<number> => {
      const { rows } = await sql`SELECT FROM budgets_reached WHERE project_id = ${run.projectId}`.execute(db);
      return rows.length;
    };
    await limit(run, '0.15');
    assert.ok(isRefused(await claim(run, 0, '0.2')));
    assert.equal(await told(), 0);
    assert.ok(!isRefused(await claim(run, 1)));
    assert.ok(isRefused(await claim(run, 2)));
    assert.equal(await told(), 1);
    await limit(run, '0');
    assert.equal(await told(), 2, 'of nothing, nothing is left');
  });

  it('stopped calls are counted by day, and their counts are deleted after 30 days', async () => {
    const run = await openRun(db, ['llm']);
    await limit(run, '0');
    for (let repeat = 0; repeat < 3; repeat++) assert.ok(isRefused(await claim(run)));
    assert.ok((await begin(chatCall(run))) !== undefined);
    const stopsOf = async () =>
      (await listStops(db, run.projectId)).map(({ source, calls, lastRunId }) => [source, calls, lastRunId]);
    assert.deepEqual(
      new Set(await stopsOf()),
      new Set([
        ['chat', 1, null],
        ['run', 3, run.id],
      ]),
    );
    await sql`UPDATE spending_stops SET day = day - 30 WHERE project_id = ${run.projectId} AND source = 'run'`.execute(
      db,
    );
    await deleteOldStops(db, 1_000);
    assert.deepEqual(await stopsOf(), [['chat', 1, null]]);
    const { rows } = await sql`SELECT FROM spending_stops WHERE project_id = ${run.projectId}`.execute(db);
    assert.equal(rows.length, 1);
  });

  describe('whose periods', () => {
    it('begin at midnight UTC: of the day, or of the first day of the month', async () => {
      const startOf = async (period: string, moment: string): Promise<string> => {
        const { rows } = await sql<{ start: string }>`
          SELECT period_start(${period}, ${moment}::timestamptz)::text AS start`.execute(db);
        return rows[0]!.start;
      };
      assert.equal(await startOf('day', '2026-02-28T23:59:59.999Z'), '2026-02-28');
      assert.equal(await startOf('day', '2026-03-01T00:00:00Z'), '2026-03-01');
      assert.equal(await startOf('day', '2026-03-01T00:30:00+01:00'), '2026-02-28');
      assert.equal(await startOf('month', '2026-02-28T23:59:59.999Z'), '2026-02-01');
      assert.equal(await startOf('month', '2028-02-29T12:00:00Z'), '2028-02-01');
      assert.equal(await startOf('total', '2026-03-01T00:00:00Z'), '-infinity');
    });

    it('include a turn of an agent in the period of its answer, and all turns in that of its end after it has ended', async () => {
      const run = await openRun(db, ['agent', 'llm']);
      await limit(run, '0.15', 'day');
      const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
      await claimNode(db, key);
      assert.ok(!isRefused(await claim(run, 0)));
      const said = { isFinal: false, messageEnc: Buffer.from('sealed'), toolCalls: [] };
      await saveTurn(db, { ...key, nodeLabel: 'an agent', ...paidCall('0.1'), ...said });
      assert.equal((await figures(run)).reserved, '0.1');
      assert.ok(isRefused(await claim(run, 1)));
      await sql`UPDATE provider_calls SET replied_at = replied_at - interval '1 day' WHERE run_id = ${run.id}`.execute(
        db,
      );
      assert.equal((await figures(run)).reserved, '0');
      assert.ok(!isRefused(await claim(run, 1)));
      assert.equal((await figures(run)).reserved, '0.1');
      await sql`UPDATE provider_calls SET sent_at = sent_at - interval '1 day' WHERE run_id = ${run.id}`.execute(db);
      assert.equal((await figures(run)).reserved, '0.1', 'what is on the wire counts');
      await limit(run, '0.15', 'total');
      assert.equal((await figures(run)).reserved, '0.2');
      await limit(run, '0.15', 'day');
      await recordPaidEnd(db, nodeEnd(run, run.nodeIds[0]!, 'agent'));
      assert.deepEqual(await figures(run), { spent: '0.1', reserved: '0.1' });
    });

    it('what was spent before does not count, and what is reserved does', async () => {
      const run = await openRun(db, ['llm', 'llm', 'llm']);
      await limit(run, '0.15', 'day');
      await claim(run, 0);
      await end(run, 0, '0.1');
      assert.ok(isRefused(await claim(run, 1)));
      const spentAt = async (moment: string): Promise<string> => {
        const { rows } = await sql<{ spent: string }>`
          SELECT spent_in_period(projects, ${moment}::timestamptz) AS spent FROM projects
          WHERE id = ${run.projectId}`.execute(db);
        return rows[0]!.spent;
      };
      await sql`UPDATE projects SET spent_on = '2026-01-31' WHERE id = ${run.projectId}`.execute(db);
      assert.deepEqual(
        [await spentAt('2026-01-31T23:59:59.999Z'), await spentAt('2026-02-01T00:00:00Z')],
        ['0.1', '0'],
      );
      await limit(run, '0.15', 'month');
      assert.deepEqual(
        [await spentAt('2026-01-31T23:59:59.999Z'), await spentAt('2026-02-01T00:00:00Z')],
        ['0.1', '0'],
      );
      await limit(run, '0.15', 'total');
      assert.equal(await spentAt('2026-02-01T00:00:00Z'), '0.1');
      // `spent_on` is in the past (set above), so the spending of the day is 0 again; the total is not.
      await limit(run, '0.15', 'day');
      assert.ok(!isRefused(await claim(run, 1)));
      assert.ok(isRefused(await claim(run, 2)));
      await end(run, 1, '0.03');
      assert.deepEqual(await figures(run), { spent: '0.03', reserved: '0' });
      await limit(run, '0.15', 'total');
      assert.deepEqual(await figures(run), { spent: '0.13', reserved: '0' });
    });
  });
});
