import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { findToolCalls, findTurns, saveTurn } from '../../../db/agents/agent-repository.js';
import { findTools, keepTools } from '../../../db/agents/agent-tools.js';
import { listRequestsOfRun } from '../../../db/agents/approval-requests-repository.js';
import { expireRequests } from '../../../db/agents/approvals-repository.js';
import type { Database } from '../../../db/core/client.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { listRunTransactions } from '../../../db/spending/billing-repository.js';
import {
  claimNode,
  findNodeClaim,
  findOutputs,
  readOutput,
  recordNodeEnd,
} from '../../../db/nodes/node-results-repository.js';
import { claimCall, markCallApplied, sumCallPrices } from '../../../db/nodes/provider-calls-repository.js';
import { findHistoryRun } from '../../../db/runs/history-repository.js';
import { readRunForPoll } from '../../../db/runs/poll-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { askedApproval, connect, nodeEnd, openRun, paidCall, type OpenRun } from '../open-run.js';

const PATHS = ['', 'LOOP[0]', 'LOOP[1]/INNER[0]'];

describe('a node is another one in each iteration that encloses it', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const keysOf = (run: OpenRun) => PATHS.map((path) => ({ runId: run.id, path, nodeId: run.nodeIds[0]! }));

  it('to claims, results, handles and transactions', async () => {
    const run = await openRun(db, ['llm']);
    for (const key of keysOf(run)) {
      assert.equal((await claimNode(db, key))!.attempts, 1);
      const path = key.path;
      const end = { path, handle: PATHS.indexOf(path), result: `{"content":"${path}"}`, amountUsd: '0.001' };
      assert.equal(await recordNodeEnd(db, nodeEnd(run, key.nodeId, 'llm', end)), true);
    }
    for (const [index, key] of keysOf(run).entries()) {
      assert.equal((await findNodeClaim(db, key))!.handle, index);
      const [output] = await findOutputs(db, key, [key.nodeId]);
      assert.equal(output!.result, `{"content":"${key.path}"}`);
      assert.equal((await readOutput(db, key))!.result, output!.result);
    }
    const reach = { userId: run.userId };
    await db
      .insertInto('project_members')
      .values({ project_id: run.projectId, user_id: run.userId, role: 'owner' })
      .execute();
    const { transactions } = (await listRunTransactions(db, { runId: run.id, reach, limit: 10, offset: 0 }))!;
    assert.deepEqual(
      transactions.map(({ path }) => path),
      PATHS,
    );
    const { nodes } = (await readRunForPoll(db, { runId: run.id, ...reach }, 30))!;
    assert.deepEqual(
      nodes.map(({ id, result }) => [id, result]),
      [[run.nodeIds[0], '{"content":""}']],
      'a poll shows what no loop encloses',
    );
    const { workflow_id: workflowId, cost_usd: cost } = await db
      .selectFrom('runs')
      .select(['workflow_id', 'cost_usd'])
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow();
    assert.equal(Number(cost), 0.003);
    assert.equal((await findHistoryRun(db, workflowId, run.id, 30))!.nodes.length, 1);
  });

  it('to the ledger, and to the end of the run, which adds the missing transaction of each iteration', async () => {
    const run = await openRun(db, ['llm']);
    for (const key of keysOf(run)) {
      await claimNode(db, key);
      const call = { ...key, provider: 'p', model: 'm', mayRepeat: false };
      assert.equal((await claimCall(db, call)).isAllowed, true);
      assert.equal((await claimCall(db, call)).isAllowed, false);
    }
    const [first, second] = keysOf(run);
    await markCallApplied(db, { ...second!, attempt: 1 }, paidCall('0.005'));
    assert.deepEqual([(await sumCallPrices(db, first!)).usd, (await sumCallPrices(db, second!)).usd], ['0', '0.005']);
    const tool = { ...second!, ordinal: 1, provider: 'server', model: 'tool', mayRepeat: false };
    await claimCall(db, tool);
    assert.equal((await sumCallPrices(db, second!)).model, 'm', 'the name of a tool is not that of a model');
    assert.equal((await sumCallPrices(db, { ...second!, nodeId: 'calls nothing' })).model, null);
    const error = { code: 'failed', message: 'It failed.' };
    await endRun(db, run.id, { status: 'failed', error });
    const rows = await db
      .selectFrom('billing_transactions')
      .select(['path', 'amount_usd', 'status'])
      .where('run_id', '=', run.id)
      .orderBy('path')
      .execute();
    assert.deepEqual(
      rows.map((row) => [row.path, Number(row.amount_usd), row.status]),
      PATHS.map((path) => [path, path === second!.path ? 0.005 : 0, 'Error']),
    );
  });

  it('to agents and their approvals', async () => {
    const run = await openRun(db, ['agent']);
    const seal = Buffer.from('sealed');
    const box = createSecretBox([randomBytes(32)]);
    for (const key of keysOf(run)) {
      const tool = { toolName: key.path, serverLabel: 's', description: '', parameters: {}, needsApproval: true };
      const own = [{ ...tool, name: 't' }];
      assert.deepEqual(await keepTools(db, box, key, { tools: own, maxCostUsd: null }), own);
      assert.deepEqual(await keepTools(db, box, key, { tools: [], maxCostUsd: null }), own);
      assert.deepEqual(await findTools(db, box, key), own);
      const approval = askedApproval();
      const call = {
        toolCallId: key.path,
        serverLabel: 's',
        toolName: 't',
        argumentsEnc: seal,
        invalidEnc: null,
        approval,
      };
      await saveTurn(db, {
        ...key,
        nodeLabel: 'an agent',
        ...paidCall('0'),
        isFinal: false,
        messageEnc: seal,
        toolCalls: [call],
      });
    }
    for (const key of keysOf(run)) {
      assert.equal((await findTurns(db, key)).length, 1);
      assert.deepEqual(
        (await findToolCalls(db, key)).map(({ toolCallId }) => toolCallId),
        [key.path],
      );
    }
    await expireRequests(db, { ...keysOf(run)[1]!, turn: 0 });
    const requests = await listRequestsOfRun(db, run.id);
    assert.deepEqual(
      requests.map(({ path, status }) => [path, status]),
      PATHS.map((path, index) => [path, index === 1 ? 'expired' : 'pending']),
    );
  });
});
