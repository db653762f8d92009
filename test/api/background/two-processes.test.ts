import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, removeKey, revokeAccess, type Account } from '../accounts.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';

const RUNS = 24;

describe('two API processes on one database', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let second: ApiProcess;

  before(async () => {
    stack = await sharedStack();
    second = await startApiProcess(stack);
  });
  after(async () => {
    assert.equal(await second.stop(), 0);
  });

  const clientsOf = ({ api, apiKey }: Account): [ApiClient, ApiClient] => [api, createApiClient(second.apiUrl, apiKey)];

  for (const [title, limit] of [
    ['its own', 60],
    ['the default', null],
  ] as const) {
    it(`of 100 requests of a key with a limit of 60 (${title}) exactly 60 pass, over both processes`, async () => {
      const clients = clientsOf(await createAccount(stack, limit));
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => clients[index % 2]!.get('/projects/?size=0')),
      );
      const passed = answers.filter(({ status }) => status === 200);
      const throttled = answers.filter(({ status }) => status === 429);
      assert.deepEqual([passed.length, throttled.length], [60, 40]);
      const left = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).toSorted((a, b) => a - b);
      assert.deepEqual(
        left,
        Array.from({ length: 60 }, (_, index) => index),
      );
      // Both processes share the count, so each of them refuses later requests.
      for (const client of clients) assert.equal((await client.get('/projects/?size=0')).status, 429);
    });
  }

  it('a deleted key and withdrawn API access take effect in both at once', async () => {
    const [deleted, revoked] = [await createAccount(stack), await createAccount(stack)];
    const ask = (account: Account): Promise<number[]> =>
      Promise.all(clientsOf(account).map(async (client) => (await client.get('/projects/')).status));
    assert.deepEqual(
      [await ask(deleted), await ask(revoked)],
      [
        [200, 200],
        [200, 200],
      ],
    );
    await removeKey(stack, deleted);
    await revokeAccess(stack, revoked);
    assert.deepEqual(
      [await ask(deleted), await ask(revoked)],
      [
        [401, 401],
        [403, 403],
      ],
    );
  });

  it('both accept runs and both check them, and every run is executed once', async () => {
    const account = await createAccount(stack);
    const clients = clientsOf(account);
    const model = `model-${account.userId}`;
    const [start, answer] = [trigger(), llm('once', { settings: { model_name: model, temperature: 0 } })];
    link(start, answer);
    const workflow = await account.api.createWorkflow(await account.api.createProject(), drawing([start, answer]));
    // A process without Temporal accepts half of the runs and cannot start them. Both reconcilers start them at the
    // same time, while both processes accept and start the other half.
    const cut = await startApiProcess(stack, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    try {
      const lost = createApiClient(cut.apiUrl, account.apiKey);
      const accepted = await Promise.all(Array.from({ length: RUNS / 2 }, () => lost.run(workflow)));
      await queryDatabase(stack, 'UPDATE runs SET next_check_at = now() WHERE workflow_id = $1', [workflow]);
      const started = await Promise.all(
        Array.from({ length: RUNS / 2 }, (_, index) => clients[index % 2]!.run(workflow)),
      );
      await queryDatabase(
        stack,
        "UPDATE runs SET next_check_at = now() WHERE workflow_id = $1 AND status = 'In Progress'",
        [workflow],
      );
      const ids = [...accepted, ...started].map(({ data }) => data.id);
      assert.equal(new Set(ids).size, RUNS);
      await eventually(() => everyRunSucceeded(workflow), { timeoutMs: 60_000, intervalMs: 200 });
    } finally {
      assert.equal(await cut.stop(), 0);
    }
    assert.equal(stack.modelProvider.requestsFor(model).length, RUNS);
    const [books] = await queryDatabase<{ nodes: number; charges: number; attempts: number }>(
      stack,
      `SELECT (SELECT count(*) FROM node_results n WHERE n.run_id = ANY (r.ids))::integer AS nodes,
        (SELECT max(attempts) FROM node_results n WHERE n.run_id = ANY (r.ids)) AS attempts,
        (SELECT count(*) FROM billing_transactions b WHERE b.run_id = ANY (r.ids) AND amount_usd > 0)::integer AS charges
      FROM (SELECT array_agg(id) AS ids FROM runs WHERE workflow_id = $1) r`,
      [workflow],
    );
    assert.deepEqual(books, { nodes: 2 * RUNS, charges: RUNS, attempts: 1 });
  });

  async function everyRunSucceeded(workflow: number): Promise<boolean> {
    const counts = await queryDatabase<{ status: string; count: number }>(
      stack,
      'SELECT status, count(*)::integer AS count FROM runs WHERE workflow_id = $1 GROUP BY status',
      [workflow],
    );
    assert.deepEqual(counts, [{ status: 'Succeeded', count: RUNS }]);
    return true;
  }
});
