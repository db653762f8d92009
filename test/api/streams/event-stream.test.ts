import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { openEventStream, saysInProgress, type OpenStream, type StreamedEvent } from '../../support/event-stream.js';
import {
  agent,
  chain,
  drawing,
  fanOut,
  http,
  linkInRow,
  llm,
  node as nodeOf,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { cancelRun, queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { createAccount, openSession, type Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

describe('the events of a run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let target: HttpTarget;
  let tools: ToolServer;
  let account: Account;

  /** The outcome of a test that takes half a minute, so it runs beside the other tests. */
  let quiet: Promise<void>;

  before(async () => {
    stack = await sharedStack();
    [target, tools, account] = await Promise.all([startHttpTarget(), startToolServer(), createAccount(stack)]);
    quiet = followQuietRun();
    quiet.catch(() => undefined);
  });
  after(() => Promise.all([target.close(), tools.close()]));

  const open = (runId: string, lastEventId?: number | string, who = account): Promise<OpenStream> =>
    openEventStream(stack.apiUrl, who.apiKey, runId, lastEventId === undefined ? {} : { lastEventId });

  async function start(...nodes: DrawingNode[]): Promise<string> {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    const { api } = account;
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, ...nodes])))).data.id;
  }

  async function startDrawing(data: object): Promise<string> {
    const { api } = account;
    return (await api.run(await api.createWorkflow(await api.createProject(), data))).data.id;
  }

  async function followQuietRun(): Promise<void> {
    const runId = await start(http(`${target.url}/hold/quiet`), http(`${target.url}/hold/silent`));
    const { session } = await openSession(stack, account);
    const openedAt = performance.now();
    const stream = await openEventStream(stack.apiUrl, '', runId, { headers: { authorization: `Bearer ${session}` } });
    assert.equal(stream.response.status, 200);
    for (const [count, name] of ['quiet', 'silent'].entries()) {
      await eventually(() => stream.comments() > count);
      target.release(`/hold/${name}`);
    }
    assert.equal(stream.comments(), 2);
    const tookMs = performance.now() - openedAt;
    assert.ok(tookMs > 29_000, `two comments within ${tookMs} ms`);
    await stream.ended;
    assert.equal(stream.failure(), undefined, 'no comment ends in an empty line');
    assert.equal(stream.events.at(-1)!.data.status, 'succeed');
  }

  const terminal = (events: StreamedEvent[]): StreamedEvent[] =>
    events.filter(({ event, data }) => event === 'node' && data.status !== 'in progress');

  function assertInOrder(events: StreamedEvent[]): void {
    const ids = events.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
    );
    const ends = terminal(events).map(({ data }) => data.id);
    assert.equal(new Set(ends).size, ends.length, 'each end once');
  }

  describe('200', () => {
    it('come as they happen, each with a version of its own, and end with the end of the run', async () => {
      const nodes = [http(`${target.url}/hold/stream`), llm('then')];
      const runId = await start(...nodes);
      const stream = await open(runId);
      assert.deepEqual(
        ['content-type', 'cache-control'].map((name) => stream.response.headers.get(name)),
        ['text/event-stream; charset=utf-8', 'no-store'],
      );
      await eventually(() => saysInProgress(stream, nodes[0]!.id));
      target.release('/hold/stream');
      await stream.ended;
      assertInOrder(stream.events);
      assert.deepEqual(
        terminal(stream.events)
          .slice(-2)
          .map(({ data }) => data.id),
        nodes.map(({ id }) => id),
      );
      const last = stream.events.at(-1)!;
      assert.deepEqual([last.event, last.data], ['run', { status: 'succeed', version: last.id }]);
      const { data } = await account.api.poll(runId);
      assert.equal(data.version, last.id);
      for (const { data: entry } of terminal(stream.events)) {
        const { path, ...rest } = entry;
        assert.equal(path, '');
        assert.deepEqual(rest, data.data![entry.id]);
      }
    });

    it('are the same for every reader, whenever it came, and over two processes', async () => {
      const data = fanOut(8, (index) => http(`${target.url}/delay/${100 * (index + 1)}/f`), llm('join'));
      const second = await startApiProcess(stack);
      try {
        const runId = await startDrawing(data);
        const early = await Promise.all([
          open(runId),
          openEventStream(second.apiUrl, account.apiKey, runId),
          open(runId),
        ]);
        await Promise.all(early.map(({ ended }) => ended));
        const late = await open(runId);
        await late.ended;
        const streams = [...early, late];
        for (const { events } of streams) {
          assertInOrder(events);
          assert.equal(terminal(events).length, 10);
          assert.equal(events.at(-1)!.event, 'run');
        }
        const ends = streams.map(({ events }) => terminal(events).map(({ id, data: { id: node } }) => `${id} ${node}`));
        for (const other of ends) assert.deepEqual(other, ends[0]);
      } finally {
        await second.stop();
      }
    });

    it('go on behind Last-Event-ID, wherever that is, without loss and without repetition', async () => {
      const runId = await startDrawing(fanOut(5, () => http(`${target.url}/delay/300/resume`), llm('join')));
      const whole = await open(runId);
      await whole.ended;
      for (const [index, { id }] of whole.events.entries()) {
        const rest = await open(runId, id);
        await rest.ended;
        const words = (events: StreamedEvent[]): string[] =>
          events.map(({ id: version, event }) => `${version} ${event}`);
        assert.deepEqual(words(rest.events), words(whole.events.slice(index + 1)));
      }
    });

    it('start at the first event for an invalid Last-Event-ID', async () => {
      const { runId } = await account.api.runToEnd(chain(2));
      for (const lastEventId of ['x', '-1', '1.5', '9'.repeat(15), '9'.repeat(400)]) {
        const stream = await open(runId, lastEventId);
        await stream.ended;
        assert.equal(terminal(stream.events).length, 2, lastEventId);
      }
    });

    it('tell how far a loop is with the end of each iteration, as a poll does, and leave out the results of iterations', async () => {
      const inside = http(`${target.url}/bytes/40000`);
      const slow = http(`${target.url}/delay/500/loop`);
      const loop = nodeOf('for_each', { items: '[1, 2, 3]', body_node: inside.id, concurrency: 1 });
      const begin = trigger();
      linkInRow([begin, loop]);
      linkInRow([inside, slow]);
      const runId = await startDrawing(drawing([begin, loop, inside, slow]));
      const stream = await open(runId);
      await stream.ended;
      const told = stream.events.filter(({ event, data }) => event === 'node' && data.id === loop.id);
      const counts = told.map(({ data }) => (data as { iterations?: { succeeded: number } }).iterations?.succeeded);
      assert.equal(counts.at(-1), 3);
      assert.ok(
        counts.some((count) => count === 1 || count === 2),
        JSON.stringify(counts),
      );
      assert.deepEqual(
        told.slice(0, -1).map(({ data }) => data.status),
        told.slice(1).map(() => 'in progress'),
      );
      assert.ok(stream.events.every(({ data }) => typeof data === 'object'));
    });

    it('after the version of a poll contain every end of a node that the poll did not show', async () => {
      const runId = await startDrawing(fanOut(6, (index) => http(`${target.url}/delay/${150 * index}/p`), llm('join')));
      const follow = await open(runId);
      const looks = [];
      for (let isEnded = false; !isEnded;) {
        const { data } = await account.api.poll(runId);
        isEnded = data.status === 'succeed';
        const shown = Object.values(data.data ?? {}).filter(({ status }) => status !== 'in progress');
        looks.push({ shown, stream: await open(runId, data.version) });
        await pause(50);
      }
      assert.ok(looks.length > 5);
      for (const { shown, stream } of looks) {
        await stream.ended;
        const seen = new Set([...shown, ...terminal(stream.events).map((event) => event.data)].map(({ id }) => id));
        assert.equal(seen.size, 8);
      }
      await follow.ended;
    });

    it('tell of approvals when they are asked for and when they are decided', async () => {
      const call = { name: 'add', arguments: { a: 1, b: 2 } };
      stack.modelProvider.script('streamed', [{ toolCalls: [call] }, { text: 'ok' }]);
      const runId = await start(
        agent('work', { model_name: 'streamed' }, [{ endpoint_url: tools.url, require_approval: 'always' }]),
      );
      const stream = await open(runId);
      const asked = await eventually(() => stream.events.find(({ event }) => event === 'approval'));
      assert.deepEqual([asked.data.status, asked.data.tool_name], ['pending', 'add']);
      const path = `/workflows/workflow_run/${runId}/agent-approval/${asked.data.request_id}/approve/`;
      await account.api.post(path, { body: {} });
      await stream.ended;
      const approvals = stream.events.filter(({ event }) => event === 'approval');
      assert.deepEqual(
        approvals.map(({ data }) => data.status),
        ['pending', 'approved'],
      );
      assertInOrder(stream.events);
    });

    it('hold results that are too large to be kept, and lines of text with breaks in them', async () => {
      target.on('/breaks', { body: 'one\ntwo\r\nthree\n\nfour' });
      const nodes = [http(`${target.url}/bytes/3000000`), http(`${target.url}/breaks`)];
      const runId = await start(...nodes);
      const stream = await open(runId);
      await stream.ended;
      const results = nodes.map(({ id }) => terminal(stream.events).find(({ data }) => data.id === id)!.data.result);
      assert.equal(results[0]!.content.length, 3_000_000);
      assert.equal(results[1]!.content, 'one\ntwo\r\nthree\n\nfour');
    });

    it('of a cancelled run end it as failed, with all that it closed', async () => {
      const held = http(`${target.url}/delay/60000/cancelled`);
      const runId = await start(held);
      const stream = await open(runId);
      await eventually(() => stream.events.some(({ data }) => data.id === held.id));
      await cancelRun(stack, runId, account.api);
      await stream.ended;
      const closed = terminal(stream.events).find(({ data }) => data.id === held.id)!;
      assert.equal(closed.data.error!.code, 'cancelled');
      assert.equal(stream.events.at(-1)!.data.status, 'failed');
    });

    it('of a run that was refused are its errors and its end', async () => {
      const begin = trigger();
      const bare = llm('', { messages: [] });
      linkInRow([begin, bare]);
      const { api } = account;
      const { data } = await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, bare])));
      const stream = await open(data.id);
      await stream.ended;
      assert.deepEqual(
        stream.events.map(({ event, data: { status } }) => `${event} ${status}`),
        ['node failed', 'run failed'],
      );
      assert.equal(stream.events.at(-1)!.id, (await api.poll(data.id)).data.version);
    });

    it('of a run that is not found are its answer to a poll, in JSON', async () => {
      const expired = (await account.api.runToEnd(chain(1))).runId;
      await queryDatabase(stack, `UPDATE runs SET run_finished_at = now() - interval '31 days' WHERE id = $1`, [
        expired,
      ]);
      for (const id of [randomUUID(), expired]) {
        const { response } = await open(id);
        assert.equal(response.headers.get('content-type')?.split(';')[0], 'application/json');
        assert.deepEqual(((await response.json()) as Envelope).data, { id, status: 'not found', data: null });
      }
    });
  });

  describe('400, 401, 429', () => {
    it('without an id or with a malformed one, for a stranger, without credentials, and over the rate limit', async () => {
      const { runId } = await account.api.runToEnd(chain(1));
      const [stranger, limited] = [await createAccount(stack), await createAccount(stack, 1)];
      await open(runId, undefined, limited);
      const responses = await Promise.all([
        open(''),
        open('abc'),
        open(runId, undefined, stranger),
        open(runId, undefined, { ...account, apiKey: '' }),
        open(runId, undefined, limited),
      ]);
      const statuses = responses.map(({ response }) => response.status);
      assert.deepEqual(statuses, [400, 400, 400, 401, 429]);
      for (const { response } of responses) assert.ok(response.headers.get('content-type')?.includes('json'));
    });
  });

  describe('when the process', () => {
    it('stops, streams end and are resumed elsewhere; when a reader hangs up, nothing of it is left', async () => {
      const second = await startApiProcess(stack);
      const held = http(`${target.url}/hold/stop`);
      const runId = await start(held, llm('then'));
      const readers = async (): Promise<number> => {
        const text = await (await fetch(`${second.apiUrl}/metrics`)).text();
        return Number(/^run_readers\{kind="stream"\} (\d+)$/m.exec(text)![1]);
      };
      const gone = await openEventStream(second.apiUrl, account.apiKey, runId);
      const stream = await openEventStream(second.apiUrl, account.apiKey, runId);
      await eventually(async () => (await readers()) === 2 && saysInProgress(stream, held.id));
      gone.close();
      await eventually(async () => (await readers()) === 1);
      await second.stop();
      await stream.ended;
      assert.notEqual(stream.events.at(-1)!.data.status, 'succeed');
      const rest = await open(runId, stream.events.at(-1)!.id);
      target.release('/hold/stop');
      await rest.ended;
      assertInOrder([...stream.events, ...rest.events]);
      assert.equal(terminal([...stream.events, ...rest.events]).length, 3);
    });

    it('loses its connection to the database, nothing is missed', async () => {
      const nodes = Array.from({ length: 12 }, () => http(`${target.url}/delay/150/lost`));
      const runId = await start(...nodes);
      const stream = await open(runId);
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'api-listener'`;
      for (let round = 0; round < 4; round++) {
        await pause(300);
        await queryDatabase(stack, cut, []);
      }
      await stream.ended;
      assertInOrder(stream.events);
      assert.equal(terminal(stream.events).length, 13);
    });
  });

  it('are for sessions, too, and a comment comes every 15 seconds, followed by one line end', () => quiet);
});
