import assert from 'node:assert/strict';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { request } from 'undici';
import { eventually } from '../../../harness/timing/eventually.js';
import type { Page, Project } from '../bodies.js';
import { connect } from '../../db/open-run.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import { chatBody, chatError, completionBytes, startChatProxy, type ChatProxy } from '../chat-proxy.js';
import { price, type ChatTransaction } from './chat-transactions.js';

const JSON_ANSWER = { 'content-type': 'application/json' };

describe('the limit of a project at the chat-completion proxy', function () {
  this.timeout(150_000);
  let proxy: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(['m']);
  });
  after(() => proxy.stop());

  const inProject = (id: number) => ({ headers: { 'x-project-id': String(id) } });
  const answerWith = (bytes: string | Buffer): void =>
    proxy.upstream.on('m', (_request, response) => void response.writeHead(200, JSON_ANSWER).end(bytes));
  const transactions = async (id: number): Promise<ChatTransaction[]> =>
    (await proxy.account.api.get<Page<ChatTransaction>>(`/billing-history/chat/?size=100&project=${id}`)).body.items;
  const headersOf = (id: number) => ({
    authorization: `Bearer ${proxy.account.apiKey}`,
    ...JSON_ANSWER,
    ...inProject(id).headers,
  });
  const limited = async (amount: string): Promise<number> => {
    const id = await proxy.account.api.createProject();
    const body = { spending_limit: { amount, period: 'day' } };
    assert.equal((await proxy.account.api.patch(`/projects/${id}/`, { body })).status, 200);
    return id;
  };
  const asked = chatBody('m', { max_tokens: 20 });
  const reserved = price(Math.ceil(asked.length / 3), 20);

  it('a call that could exceed it is a 402 in the shape of the protocol, and is not made', async () => {
    answerWith(completionBytes('m'));
    const id = await limited((reserved - 1e-7).toFixed(7));
    const made = proxy.upstream.requestsFor('m').length;
    const answer = await proxy.send(asked, inProject(id));
    assert.equal(answer.status, 402);
    const { code, type, param, message } = chatError(answer);
    assert.deepEqual([code, type, param], ['budget_exceeded', 'insufficient_quota', null]);
    assert.match(message, /on this day \(UTC\), so the call was not made/);
    const client = new OpenAI({
      baseURL: proxy.baseUrl,
      apiKey: proxy.account.apiKey,
      maxRetries: 0,
      defaultHeaders: inProject(id).headers,
    });
    await assert.rejects(client.chat.completions.create(JSON.parse(asked) as never), {
      status: 402,
      code: 'budget_exceeded',
    });
    assert.equal(proxy.upstream.requestsFor('m').length, made);
    assert.deepEqual(await transactions(id), []);
    const { body } = await proxy.account.api.get<{ stopped: { source: string; calls: number }[] }>(
      `/projects/${id}/spending/`,
    );
    assert.deepEqual(
      body.stopped.map(({ source, calls }) => [source, calls]),
      [['chat', 2]],
    );
  });

  it('is not exceeded by many concurrent calls through two processes', async () => {
    const second = await startApiProcess(proxy.stack, {
      MODEL_PROVIDERS_FILE: proxy.upstream.providersFile,
      RAW_PROVIDER_KEY: 'sk-platform',
    });
    try {
      // Each call costs exactly the amount that is reserved for it.
      const usage = { prompt_tokens: Math.ceil(asked.length / 3), completion_tokens: 20 };
      answerWith(JSON.stringify({ choices: [], usage }));
      const id = await limited((7 * reserved).toFixed(6));
      const headers = {
        authorization: `Bearer ${proxy.account.apiKey}`,
        'content-type': 'application/json',
        'x-project-id': String(id),
      };
      const statuses = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const url = `${index % 2 === 0 ? proxy.process.apiUrl : second.apiUrl}/v1/chat/completions`;
          const { statusCode, body } = await request(url, { method: 'POST', headers, body: asked });
          await body.dump();
          return statusCode;
        }),
      );
      assert.deepEqual([statuses.filter((s) => s === 200).length, statuses.filter((s) => s === 402).length], [7, 33]);
      const { body } = await proxy.account.api.get<Project>(`/projects/${id}/`);
      assert.equal(body.spent_in_period['USD'], body.spending_limit?.amount);
    } finally {
      await second.stop();
    }
  });

  it('is not used by a call whose client disconnects before the call is sent', async () => {
    answerWith(completionBytes('m'));
    const id = await limited('5');
    const made = proxy.upstream.requestsFor('m').length;
    const [db, hangUp] = [await connect(1), new AbortController()];
    try {
      // The reservation of the call waits for this lock.
      await db.transaction().execute(async (trx) => {
        await sql`SELECT pg_advisory_xact_lock(hashtext('spending'), ${id}::integer)`.execute(trx);
        const url = `${proxy.baseUrl}/chat/completions`;
        const call = request(url, { method: 'POST', headers: headersOf(id), body: asked, signal: hangUp.signal });
        const lost = assert.rejects(call);
        await eventually(async () => {
          const { rows } = await sql`SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND objid = ${id}::integer AND NOT granted`.execute(trx);
          return rows.length > 0;
        });
        hangUp.abort();
        await lost;
        // The process reads the end of the closed connection no later than the second of two later requests.
        for (let later = 0; later < 2; later += 1) await proxy.send('', { path: '/healthz', method: 'GET' });
      });
    } finally {
      await db.destroy();
    }
    await eventually(async () => (await transactions(id)).length === 1);
    const [{ status, amount, reason }] = (await transactions(id)) as [ChatTransaction];
    assert.deepEqual([status, amount['USD'], reason], ['Error', '0', 'not_made']);
    assert.equal(proxy.upstream.requestsFor('m').length, made);
  });
});
