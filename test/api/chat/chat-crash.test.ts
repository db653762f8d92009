// Calls of the chat proxy whose API process is killed (docs/adr/0020-money-reserved-with-the-claim.md).
import assert from 'node:assert/strict';
import pg from 'pg';
import { request } from 'undici';
import { createGate } from '../../../harness/timing/gate.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { PLATFORM_KEY, startRawUpstream, type RawUpstream } from '../../support/raw-upstream.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import type { Page } from '../bodies.js';
import { chatBody } from '../chat-proxy.js';
import { price, type ChatTransaction } from './chat-transactions.js';

describe('a call of the chat proxy whose process is killed', function () {
  this.timeout(150_000);
  let stack: TestStack;
  let upstream: RawUpstream;

  before(async () => {
    [stack, upstream] = await Promise.all([sharedStack(), startRawUpstream(['m'])]);
  });
  after(() => upstream.close());

  const open = 'SELECT id FROM chat_calls WHERE project_id = $1 AND reserved_usd IS NOT NULL';

  /** Makes a call at a process of its own, and returns when the provider has received it. */
  async function callAtOtherProcess(answer?: Promise<unknown>) {
    const dying = await startApiProcess(stack, {
      MODEL_PROVIDERS_FILE: upstream.providersFile,
      RAW_PROVIDER_KEY: PLATFORM_KEY,
    });
    let isAsked = false;
    upstream.on('m', async (_request, response) => {
      isAsked = true;
      if (answer === undefined) return;
      await answer;
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], usage }));
    });
    const { api, apiKey } = await createAccount(stack);
    const project = await api.createProject();
    const body = chatBody('m', { max_tokens: 30 });
    const called = request(`${dying.apiUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'x-project-id': String(project),
      },
      body,
    }).catch(() => undefined);
    await eventually(() => isAsked);
    const [{ id }] = (await queryDatabase<{ id: string }>(stack, open, [project])) as [{ id: string }];
    return { dying, api, project, body, called, id };
  }

  async function isChargedAsReserved({ api, project, body, id }: Awaited<ReturnType<typeof callAtOtherProcess>>) {
    const transactions = async (): Promise<ChatTransaction[]> =>
      (await api.get<Page<ChatTransaction>>(`/billing-history/chat/?size=100&project=${project}`)).body.items;
    // Ends the lease now instead of after two minutes.
    const expire = `UPDATE chat_calls SET leased_until = now() - interval '1 second' WHERE id = $1`;
    await queryDatabase(stack, expire, [id]);
    await eventually(async () => (await transactions())[0]?.id === id, { timeoutMs: 90_000 });
    const { is_estimated: isEstimated, status, amount, reason } = (await transactions())[0]!;
    assert.deepEqual(
      [isEstimated, status, Number(amount['USD'])],
      [true, 'Error', price(Math.ceil(body.length / 3), 30)],
    );
    assert.match(reason, /stopped before the cost of the call was known/);
    assert.deepEqual(await queryDatabase(stack, open, [project]), []);
  }

  it('is charged the reserved amount, by another process', async () => {
    const call = await callAtOtherProcess();
    process.kill(call.dying.pid, 'SIGKILL');
    await call.called;
    await isChargedAsReserved(call);
  });

  it('is charged the reserved amount if its process is stopped and cannot record it; the process ends in time', async () => {
    const answer = createGate();
    const call = await callAtOtherProcess(answer.opened);
    const locker = new pg.Client({ connectionString: stack.stack.database_url });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      await locker.query('SELECT FROM chat_calls WHERE id = $1 FOR UPDATE', [call.id]);
      answer.open();
      assert.equal((await call.called)?.statusCode, 200);
      const stoppedAt = Date.now();
      assert.equal(await call.dying.stop(), 0);
      assert.ok(Date.now() - stoppedAt < 15_000, `ended after ${Date.now() - stoppedAt} ms`);
      // The server would finish the statement of the ended process once the row is free.
      await locker.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))',
      );
    } finally {
      await locker.end();
    }
    await isChargedAsReserved(call);
  });
});
