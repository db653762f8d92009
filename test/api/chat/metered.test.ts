import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { request } from 'undici';
import { eventually } from '../../../harness/timing/eventually.js';
import { restrictedTo } from '../accounts.js';
import type { Page, Project } from '../bodies.js';
import { chatBody, completionBytes, startChatProxy, type ChatProxy } from '../chat-proxy.js';

interface ChatTransaction {
  id: string;
  operation: string;
  status: string;
  amount: Record<string, string>;
  is_estimated: boolean;
  reason: string;
  run_id: null;
  project: number | null;
  user_id: number;
  provider: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
}

const SSE = { 'content-type': 'text/event-stream' };
const event = (body: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...body })}\n\n`;
const said = (content: string): string => event({ choices: [{ index: 0, delta: { role: 'assistant', content } }] });
const USAGE = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
const lastChunk = event({ choices: [], usage: USAGE });

/** The price in USD at 1 USD a million input tokens and 2 USD a million output tokens. */
const price = (input: number, output: number): number => Number(((input + 2 * output) / 1e6).toFixed(9));

describe('the transactions of the chat-completion proxy', function () {
  this.timeout(120_000);
  let proxy: ChatProxy;
  let project: number;

  before(async () => {
    proxy = await startChatProxy(['m']);
    project = await proxy.account.api.createProject();
  });
  after(() => proxy.stop());

  const inProject = (id = project) => ({ headers: { 'x-project-id': String(id) } });
  const answerWith = (bytes: string | Buffer, headers: Record<string, string> = SSE): void =>
    proxy.upstream.on('m', (_request, response) => void response.writeHead(200, headers).end(bytes));
  const transactions = async (id?: number): Promise<ChatTransaction[]> => {
    const query = id === undefined ? '' : `&project=${id}`;
    return (await proxy.account.api.get<Page<ChatTransaction>>(`/billing-history/chat/?size=100${query}`)).body.items;
  };
  const last = async (id = project): Promise<ChatTransaction> => (await transactions(id))[0]!;
  const stream = (extra: object = {}, signal?: AbortSignal) =>
    request(`${proxy.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${proxy.account.apiKey}`,
        'content-type': 'application/json',
        ...inProject().headers,
      },
      body: chatBody('m', { stream: true, ...extra }),
      signal: signal ?? null,
    });

  it('are stored for the named project before the answer ends, with the counts of the provider', async () => {
    const bytes = completionBytes('m');
    answerWith(bytes, { 'content-type': 'application/json' });
    const answer = await proxy.send(chatBody('m'), inProject());
    assert.ok(answer.body.equals(bytes));
    const { id, ...transaction } = await last();
    assert.match(id, /^[0-9a-f-]{36}$/);
    const { operation, status, is_estimated: isEstimated, run_id: runId, reason, amount } = transaction;
    assert.deepEqual([operation, status, isEstimated, runId, reason], ['chat', 'Succeeded', false, null, '']);
    assert.deepEqual(
      [transaction.project, transaction.model, transaction.user_id],
      [project, 'm', proxy.account.userId],
    );
    assert.deepEqual([transaction.input_tokens, transaction.output_tokens], [1, 2]);
    assert.equal(Number(amount['USD']), price(1, 2));
    const { body } = await proxy.account.api.get<Project>(`/projects/${project}/`);
    assert.equal(body.total_spent['USD'], amount['USD']);
  });

  it('have no project by default; a restricted key gives them its project', async () => {
    answerWith(completionBytes('m'), { 'content-type': 'application/json' });
    const before = (await transactions()).length;
    await proxy.send(chatBody('m'));
    const all = await transactions();
    assert.deepEqual([all.length, all[0]!.project], [before + 1, null]);
    const restricted = await restrictedTo(proxy.stack, project, proxy.account);
    const send = (headers: Record<string, string>) =>
      proxy.send(chatBody('m'), { headers: { authorization: `Bearer ${restricted.apiKey}`, ...headers } });
    const counted = (await transactions(project)).length;
    assert.equal((await send({})).status, 200);
    assert.equal((await send(inProject().headers)).status, 200);
    assert.equal((await send(inProject(project + 1).headers)).status, 403);
    assert.equal((await transactions(project)).length, counted + 2);
  });

  it('have the usage in the last chunk of a stream if the client has requested it', async () => {
    const bytes = said('Hel') + said('lo') + lastChunk + 'data: [DONE]\n\n';
    answerWith(bytes);
    const client = new OpenAI({
      baseURL: proxy.baseUrl,
      apiKey: proxy.account.apiKey,
      maxRetries: 0,
      defaultHeaders: inProject().headers,
    });
    const opened = await client.chat.completions.create({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: 'hi',
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    for await (const chunk of opened) text += chunk.choices[0]?.delta.content ?? '';
    assert.equal(text, 'Hello');
    const { is_estimated: isEstimated, input_tokens: input, output_tokens: output, amount } = await last();
    assert.deepEqual([isEstimated, input, output, Number(amount['USD'])], [false, 1000, 200, price(1000, 200)]);
  });

  for (const [name, encode] of [
    ['plain', (text: string) => Buffer.from(text)],
    ['gzip', (text: string) => gzipSync(text)],
  ] as const) {
    it(`are estimated from the text of a stream without usage, and its bytes are unchanged (${name})`, async () => {
      const bytes = encode(said('x'.repeat(31)) + said('☕'.repeat(2)) + 'data: [DONE]\n\n');
      answerWith(bytes, name === 'gzip' ? { ...SSE, 'content-encoding': 'gzip' } : SSE);
      const { body } = await stream();
      assert.ok(Buffer.from(await body.arrayBuffer()).equals(bytes));
      const { is_estimated: isEstimated, input_tokens: input, output_tokens: output, reason, status } = await last();
      const sent = Math.ceil(chatBody('m', { stream: true }).length / 3);
      assert.deepEqual([isEstimated, input, output, status], [true, sent, 11, 'Succeeded']);
      assert.match(reason, /estimated/);
    });
  }

  it('are estimated for a complete answer without usage or with invalid counts', async () => {
    for (const usage of [
      undefined,
      null,
      {},
      'many',
      { prompt_tokens: 'x' },
      { prompt_tokens: -1, completion_tokens: 1.5 },
    ]) {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'y'.repeat(9) } }];
      answerWith(JSON.stringify({ choices, usage }), { 'content-type': 'application/json' });
      await proxy.send(chatBody('m'), inProject());
      const { is_estimated: isEstimated, output_tokens: output } = await last();
      assert.deepEqual([isEstimated, output], [true, 3], JSON.stringify(usage));
    }
  });

  it('have the one valid count of a usage, and an estimate of the other', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'y'.repeat(9) } }];
    const sent = Math.ceil(chatBody('m').length / 3);
    for (const [usage, input, output] of [
      [{ prompt_tokens: 1000, completion_tokens: null }, 1000, 3],
      [{ prompt_tokens: -1, completion_tokens: 200 }, sent, 200],
    ] as const) {
      answerWith(JSON.stringify({ choices, usage }), { 'content-type': 'application/json' });
      await proxy.send(chatBody('m'), inProject());
      const { is_estimated: isEstimated, status, reason, ...paid } = await last();
      assert.deepEqual(
        [isEstimated, status, paid.input_tokens, paid.output_tokens],
        [true, 'Succeeded', input, output],
      );
      assert.equal(Number(paid.amount['USD']), price(input, output));
      assert.match(reason, /a part of the usage/);
    }
  });

  it('are 0 without usage for a failure with status 200, and for an answer that is no completion', async () => {
    const tired = { error: { message: 'Upstream is tired', code: 429 } };
    const failed = `data: ${JSON.stringify(tired)}\n\n`;
    const start = event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
    const whole = [tired, [tired], {}, { choices: [] }].map((body) => JSON.stringify(body));
    const bodies: [bytes: string, headers: Record<string, string>][] = [
      ...[...whole, '<html>Sign in</html>'].map((body) => [body, { 'content-type': 'application/json' }] as never),
      [start + failed, SSE],
      [`${start}event: error\ndata: tired\n\n`, SSE],
      ['data: [DONE]\n\n', SSE],
    ];
    for (const [bytes, headers] of bodies) {
      answerWith(bytes, headers);
      const { statusCode, body } = await stream();
      assert.deepEqual([statusCode, await body.text()], [200, bytes]);
      const { amount, is_estimated: isEstimated, status, reason } = await last();
      assert.deepEqual([amount['USD'], isEstimated, status], ['0', false, 'Error'], bytes);
      assert.match(reason, /costs nothing/);
    }
  });

  it('have the usage of a failure, and are estimated for a stream that fails after some text', async () => {
    const tired = { error: { message: 'Upstream is tired', code: 429 } };
    answerWith(JSON.stringify({ ...tired, usage: USAGE }), { 'content-type': 'application/json' });
    await proxy.send(chatBody('m'), inProject());
    const counted = await last();
    assert.deepEqual(
      [Number(counted.amount['USD']), counted.is_estimated, counted.status],
      [price(1000, 200), false, 'Error'],
    );
    answerWith(`${said('z'.repeat(30))}data: ${JSON.stringify(tired)}\n\n`);
    await (await stream()).body.dump();
    const sent = Math.ceil(chatBody('m', { stream: true }).length / 3);
    const estimated = await last();
    assert.deepEqual(
      [Number(estimated.amount['USD']), estimated.is_estimated, estimated.output_tokens],
      [price(sent, 10), true, 10],
    );
  });

  it('do not count pings and events of other names in a stream, which are forwarded unchanged', async () => {
    const ping = 'event: ping\ndata:\n\n';
    const bytes = `${ping}${said('Hello')}event: trace\n${said('not said')}${ping}${lastChunk}data: [DONE]\n\n`;
    answerWith(bytes);
    const { body } = await stream({ stream_options: { include_usage: true } });
    assert.equal(await body.text(), bytes);
    const { is_estimated: isEstimated, input_tokens: input, output_tokens: output } = await last();
    assert.deepEqual([isEstimated, input, output], [false, 1000, 200]);
    answerWith(`${said('Hello')}event: trace\n${said('not said')}`);
    await (await stream()).body.dump();
    assert.equal((await last()).output_tokens, 2);
  });

  it('have the reserved amount for an answer that cannot be decoded, and its bytes stay unchanged', async () => {
    const body = chatBody('m', { max_tokens: 20 });
    for (const [encoding, bytes] of [
      ['zstd', Buffer.from('compressed by zstd')],
      ['gzip', Buffer.from('no archive')],
      ['gzip', gzipSync(completionBytes('m')).subarray(0, 40)],
    ] as const) {
      answerWith(bytes, { 'content-type': 'application/json', 'content-encoding': encoding });
      const answer = await proxy.send(body, inProject());
      assert.ok(answer.body.equals(bytes));
      const { is_estimated: isEstimated, amount, output_tokens: output, reason, status } = await last();
      const reserved = price(Math.ceil(body.length / 3), 20);
      assert.deepEqual([isEstimated, Number(amount['USD']), output, status], [true, reserved, 20, 'Succeeded']);
      assert.match(reason, /encoding/);
    }
  });

  it('have the usage at the end of a very large answer, and not one in its text', async () => {
    const content = `\\"usage\\": {\\"prompt_tokens\\": 7}${'y'.repeat(6 * 1024 * 1024)}`;
    const bytes = completionBytes('m', content);
    answerWith(bytes, { 'content-type': 'application/json' });
    const answer = await proxy.send(chatBody('m'), inProject());
    assert.ok(answer.body.equals(bytes));
    const { is_estimated: isEstimated, input_tokens: input, output_tokens: output } = await last();
    assert.deepEqual([isEstimated, input, output], [false, 1, 2]);
  });

  it('are estimated from the text sent so far if the client disconnects', async () => {
    let response: ServerResponse | undefined;
    proxy.upstream.on('m', (_request, opened) => {
      response = opened.writeHead(200, SSE);
      response.write(said('z'.repeat(30)));
    });
    const [before, hangUp] = [(await transactions(project)).length, new AbortController()];
    const { body } = await stream({ stream_options: { include_usage: true } }, hangUp.signal);
    await (body[Symbol.asyncIterator]() as AsyncIterator<Buffer>).next();
    body.on('error', () => undefined);
    hangUp.abort();
    await eventually(async () => (await transactions(project)).length === before + 1);
    const { is_estimated: isEstimated, output_tokens: output, status } = await last();
    assert.deepEqual([isEstimated, output, status], [true, 10, 'Error']);
    response?.end();
  });

  it('are 0 for a call that the provider refuses', async () => {
    for (const status of [400, 429, 500]) {
      proxy.upstream.on('m', (_request, response) => void response.writeHead(status).end('{"error":{}}'));
      assert.equal((await proxy.send(chatBody('m'), inProject())).status, status);
      const { amount, status: stored, reason } = await last();
      assert.deepEqual([amount['USD'], stored, reason], ['0', 'Error', `http_${status}`]);
    }
  });

  it('have the reserved amount if provider or client break the call before its answer', async () => {
    const body = chatBody('m', { max_tokens: 20 });
    const reserved = price(Math.ceil(body.length / 3), 20);
    const assertCut = async (): Promise<void> => {
      const { amount, is_estimated: isEstimated, status, output_tokens: output, reason } = await last();
      assert.deepEqual([Number(amount['USD']), isEstimated, status, output], [reserved, true, 'Error', 20]);
      assert.match(reason, /cut off/);
    };
    proxy.upstream.on('m', (_request, response) => void response.destroy());
    assert.equal((await proxy.send(body, inProject())).status, 500);
    await assertCut();
    const hangUp = new AbortController();
    const before = (await transactions(project)).length;
    proxy.upstream.on('m', () => hangUp.abort());
    const headers = { authorization: `Bearer ${proxy.account.apiKey}`, 'content-type': 'application/json' };
    const call = { method: 'POST', headers: { ...headers, ...inProject().headers }, body } as const;
    await assert.rejects(request(`${proxy.baseUrl}/chat/completions`, { ...call, signal: hangUp.signal }));
    await eventually(async () => (await transactions(project)).length === before + 1);
    await assertCut();
  });

  it('are listed in the usage as node kind `chat`, with the number of estimated calls', async () => {
    const { body } = await proxy.account.api.get<Record<string, unknown>[]>(
      `/usage/?group_by=node_kind&project=${project}`,
    );
    const own = await transactions(project);
    const answered = own.filter(({ status, amount }) => status === 'Succeeded' || Number(amount['USD']) > 0);
    const [row, ...more] = body;
    assert.deepEqual(more, []);
    assert.deepEqual(
      { ...row, amount: undefined },
      {
        key: 'chat',
        label: 'Chat proxy',
        runs: 0,
        calls: answered.length,
        amount: undefined,
        estimated_calls: own.filter(({ is_estimated: isEstimated }) => isEstimated).length,
        input_tokens: own.reduce((sum, { input_tokens: tokens }) => sum + tokens, 0),
        output_tokens: own.reduce((sum, { output_tokens: tokens }) => sum + tokens, 0),
      },
    );
    for (const group of ['project', 'workflow', 'model', 'day']) {
      const { body: rows } = await proxy.account.api.get<{ calls: number }[]>(
        `/usage/?group_by=${group}&project=${project}`,
      );
      assert.equal(
        rows.reduce((sum, { calls }) => sum + calls, 0),
        answered.length,
        group,
      );
    }
    const { body: ofNone } = await proxy.account.api.get<{ key: string; label: string }[]>('/usage/?group_by=project');
    assert.ok(ofNone.some(({ key, label }) => key === '' && label === 'No project'));
  });
});
