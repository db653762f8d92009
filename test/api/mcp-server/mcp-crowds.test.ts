// Many tool calls at once, and tool calls to several API processes that start and stop.
import assert from 'node:assert/strict';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, linkInRow, node as nodeOf, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { callBack, callbackUrlOf } from '../../support/waiting.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import {
  call,
  connectBare,
  connectOfficial,
  messagesIn,
  offer,
  runOf,
  textOf,
  type CallToolResult,
} from './mcp-clients.js';

const AT_ONCE = 50;

describe('tool calls in crowds and over processes', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let account: Account;
  let project: number;

  before(async () => {
    stack = await startStack();
    account = await createAccount(stack);
    project = await account.api.createProject();
  });
  after(() => stack.stop());

  const wait = nodeOf('wait', { mode: 'callback', label: 'Wait' });
  const waiting = (): object =>
    drawing(linkInRow([trigger([], { label: 'Begin' }), structuredClone(wait), nodeOf('output', { value: 'done' })]));
  const runsOf = (id: number): Promise<{ id: string; status: string }[]> =>
    queryDatabase(stack, 'SELECT id, status FROM runs WHERE workflow_id = $1', [id]);
  const openRun = (id: number): Promise<string> =>
    eventually(async () => (await runsOf(id))[0]?.id ?? false, { timeoutMs: 30_000 });

  /** Two API processes with an address each: a test chooses the one that answers, as a load balancer would. */
  async function twoProcesses(): Promise<{ first: ApiProcess; second: ApiProcess; stop: () => Promise<void> }> {
    const [first, second] = await Promise.all([startApiProcess(stack), startApiProcess(stack)]);
    return { first, second, stop: async () => void (await Promise.all([first.stop(), second.stop()])) };
  }

  it(`${AT_ONCE} calls at once, half of them with progress, each get their own output; each is one run`, async () => {
    const steps = Array.from({ length: 3 }, () => nodeOf('set', { value: 'x' }));
    const output = nodeOf('output', { value: { n: '{{ input.n }}' } });
    const { id, name } = await offer(account.api, project, drawing(linkInRow([trigger(), ...steps, output])));
    const client = await connectOfficial(stack.apiUrl, account.apiKey);
    const told = Array.from({ length: AT_ONCE }, (): number[] => []);
    const results = await Promise.all(
      told.map((heard, n) =>
        call(client, name, { n }, n % 2 === 0 ? {} : { onprogress: ({ progress }) => heard.push(progress) }),
      ),
    );
    assert.deepEqual(
      results.map(({ structuredContent }) => structuredContent),
      told.map((_, n) => ({ n })),
    );
    for (const [n, heard] of told.entries()) assert.deepEqual(heard, n % 2 === 0 ? [] : [1, 2, 3, 4, 5], `call ${n}`);
    assert.equal(new Set(results.map(runOf)).size, AT_ONCE);
    assert.equal((await runsOf(id)).length, AT_ONCE);
    await client.client.close();
  });

  it('the official client goes on by itself when the process that answers it is killed: one run, one answer', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const first = await startApiProcess(stack);
    const client = await connectOfficial(first.apiUrl, account.apiKey);
    const told: number[] = [];
    const answer = call(client, name, {}, { onprogress: ({ progress }) => told.push(progress) });
    const runId = await openRun(id);
    await eventually(() => told.length === 1);
    process.kill(first.pid, 'SIGKILL');
    const next = await startApiProcess(stack, { PORT: new URL(first.apiUrl).port });
    try {
      const url = await callbackUrlOf(account.api, runId, wait.id);
      await callBack(url);
      const result = await answer;
      assert.deepEqual([textOf(result), runOf(result)], ['done', runId]);
      assert.deepEqual(told, [1, 2, 3], 'nothing is told twice');
      assert.equal((await runsOf(id)).length, 1);
    } finally {
      await client.client.close();
      await next.stop();
    }
  });

  it('a process that shuts down ends its streams cleanly, and another one sends the rest', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const { first, second, stop } = await twoProcesses();
    try {
      const bare = await connectBare(first.apiUrl, account.apiKey);
      const params = { name, arguments: {}, _meta: { progressToken: 'p' } };
      const begun = bare.request(1, 'tools/call', params);
      const url = await callbackUrlOf(account.api, await openRun(id), wait.id);
      // If the stream were cut off, `begun` would reject.
      const [, { text }] = await Promise.all([first.stop(), begun]);
      assert.match(text, /^retry: 2000\nid: .+\ndata: \n\n/);
      assert.equal(text.includes('"result"'), false);
      const [lastEventId] = [...text.matchAll(/^id: (.+)$/gm)].map(([, place]) => place!).slice(-1);
      const rest = await fetch(`${second.apiUrl}/mcp`, {
        headers: { ...bare.headers, accept: 'text/event-stream', 'last-event-id': lastEventId! },
      });
      await callBack(url);
      const told = messagesIn((await rest.text()).replaceAll(/^data: $/gm, ''));
      const answer = told.at(-1)!['result'] as CallToolResult;
      assert.deepEqual([textOf(answer), runOf(answer)], ['done', (await runsOf(id))[0]?.id]);
      const before = messagesIn(text.replaceAll(/^data: $/gm, ''));
      const progress = [...before, ...told.slice(0, -1)].map(
        (each) => (each['params'] as { progress: number }).progress,
      );
      assert.deepEqual(progress, [1, 2, 3]);
      for (const place of [lastEventId!, `${lastEventId}x`]) {
        const other = await connectBare(second.apiUrl, account.apiKey);
        const headers = { ...other.headers, accept: 'text/event-stream', 'last-event-id': place };
        const { status } = await fetch(`${second.apiUrl}/mcp`, { headers });
        assert.equal(status, 400, 'a place in a stream of another session');
      }
    } finally {
      await stop();
    }
  });

  it('a client of an old version repeats its request, to any process, and gets the answer of its run', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const { first, second, stop } = await twoProcesses();
    try {
      const old = await connectBare(first.apiUrl, account.apiKey, '2025-03-26');
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
      const lost = old.send(message).catch(() => undefined);
      const runId = await openRun(id);
      const url = await callbackUrlOf(account.api, runId, wait.id);
      process.kill(first.pid, 'SIGKILL');
      assert.equal(await lost, undefined);
      const elsewhere = (body: object): Promise<Response> =>
        fetch(`${second.apiUrl}/mcp`, {
          method: 'POST',
          headers: { ...old.headers, 'content-type': 'application/json', accept: '*/*' },
          body: JSON.stringify(body),
        });
      const again = elsewhere(message);
      await callBack(url);
      const text = await (await again).text();
      assert.doesNotMatch(text, /^data: $/m, 'an old client would stumble over an event without data');
      const [answer] = messagesIn(text);
      assert.equal(runOf(answer!['result'] as CallToolResult), runId);
      assert.equal((await runsOf(id)).length, 1);
    } finally {
      await stop();
    }
  });

  it('a cancel that reaches another process than the call cancels its run', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const { first, second, stop } = await twoProcesses();
    try {
      const bare = await connectBare(first.apiUrl, account.apiKey);
      const answer = bare.request('call', 'tools/call', { name, arguments: {} });
      await openRun(id);
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call' } };
      const headers = { ...bare.headers, 'content-type': 'application/json', accept: '*/*' };
      const sent = await fetch(`${second.apiUrl}/mcp`, { method: 'POST', headers, body: JSON.stringify(cancel) });
      assert.equal(sent.status, 202);
      const [message] = messagesIn((await answer).text.replaceAll(/^data: $/gm, ''));
      assert.equal((message!['result'] as CallToolResult).isError, true);
      assert.equal((await runsOf(id))[0]?.status, 'Cancelled');
    } finally {
      await stop();
    }
  });

  const cancelOf = (requestId: string) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });

  it('a cancel that arrives before its call prevents the run, however often both are sent', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const bare = await connectBare(stack.apiUrl, account.apiKey);
    assert.equal((await bare.send(cancelOf('late'))).status, 202);
    assert.equal((await bare.send(cancelOf('late'))).status, 202);
    for (let count = 0; count < 2; count += 1) {
      const { body } = await bare.request('late', 'tools/call', { name, arguments: {} });
      assert.deepEqual(body.error, { code: -32600, message: 'The call was cancelled before its run began.' });
    }
    assert.deepEqual(await runsOf(id), []);
  });

  it('a cancel at the same moment as its call is not lost: there is no run, or it is cancelled', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const bare = await connectBare(stack.apiUrl, account.apiKey);
    const ids = Array.from({ length: 20 }, (_, index) => `at once ${index}`);
    await Promise.all(
      ids.flatMap((requestId) => [
        bare.request(requestId, 'tools/call', { name, arguments: {} }),
        bare.send(cancelOf(requestId)),
      ]),
    );
    assert.deepEqual(
      (await runsOf(id)).filter(({ status }) => status !== 'Cancelled'),
      [],
    );
  });

  it('a user who loses the role while a call waits does not get its result', async () => {
    const { id, name } = await offer(account.api, project, waiting());
    const member = await createAccount(stack);
    await giveRole(stack, member, project, 'editor');
    const bare = await connectBare(stack.apiUrl, member.apiKey);
    const answer = bare.request(1, 'tools/call', { name, arguments: {} });
    const runId = await openRun(id);
    const url = await callbackUrlOf(account.api, runId, wait.id);
    await giveRole(stack, member, project, 'viewer');
    await callBack(url);
    const [message] = messagesIn((await answer).text.replaceAll(/^data: $/gm, ''));
    const result = message!['result'] as CallToolResult;
    assert.deepEqual([result.isError, textOf(result)], [true, 'You may not run this workflow any more.']);
  });
});
