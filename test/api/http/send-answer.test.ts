import assert from 'node:assert/strict';
import Koa from 'koa';
import type { AppContext } from '../../../api/http/app-state.js';
import { lazyList, lazyText, lazyValue, RawJson } from '../../../api/http/json-text.js';
import { sendBytes, sendJson } from '../../../api/http/send-answer.js';
import { closeServer, listen, type ListeningServer } from '../../../api/http/server.js';
import { createLogger } from '../../../telemetry/logger.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { head, openRaw } from '../../support/raw-http.js';

const log = createLogger('test', 'silent');

// oxlint-disable-next-line typescript/require-await -- the sources of pieces are asynchronous
async function* textOf(pieces: number, onPiece: () => void = () => undefined): AsyncGenerator<string> {
  yield '"';
  for (let piece = 0; piece < pieces; piece += 1) {
    onPiece();
    yield 'é'.repeat(1_000_000);
  }
  yield '"';
}

describe('answers that are sent in pieces', function () {
  this.timeout(120_000);
  let server: ListeningServer;
  const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 });

  async function serve(answer: (ctx: AppContext) => Promise<void>): Promise<string> {
    const app = new Koa();
    app.silent = true;
    app.use(async (ctx) => {
      ctx.state['log'] = log;
      ctx.status = 200;
      ctx.type = 'application/json';
      await answer(ctx as unknown as AppContext);
    });
    const callback = app.callback();
    server = await listen((request, response) => void callback(request, response), { host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${server.port}`;
  }
  afterEach(() => closeServer(server));

  it('are the same JSON, with lists and values that are generated while sending, and release all memory', async () => {
    const body = {
      total: 2,
      none: undefined,
      items: lazyList(async function* () {
        yield { id: 1, text: lazyText(() => textOf(2), 4_000_000) };
        yield [{ deep: lazyValue(1_000, () => Promise.resolve({ raw: new RawJson('[1, 2]') })) }];
      }),
      empty: lazyList(async function* () {}),
    };
    const lease = memory.lease('user:1');
    const url = await serve((ctx) => sendJson(ctx, body, lease));
    const answer = (await (await fetch(url)).json()) as object;
    const items = [{ id: 1, text: 'é'.repeat(2_000_000) }, [{ deep: { raw: [1, 2] } }]];
    assert.deepEqual(answer, { total: 2, items, empty: [] });
    assert.equal(memory.heldBytes, 0);
  });

  it('hold one piece while the client does not read, and fetch no further one', async () => {
    let fetched = 0;
    const lease = memory.lease('user:1');
    const url = await serve((ctx) =>
      sendJson(ctx, { text: lazyText(() => textOf(60, () => (fetched += 1)), 8_000_000) }, lease),
    );
    const connection = await openRaw(url);
    connection.socket.pause();
    connection.send(head('GET / HTTP/1.1', 'Host: x'));
    let before = -1;
    await eventually(
      () => {
        const isStill = fetched > 0 && fetched === before;
        before = fetched;
        return isStill;
      },
      { timeoutMs: 20_000, intervalMs: 500 },
    );
    assert.ok(fetched < 30, `${fetched} pieces were fetched`);
    assert.ok(memory.heldBytes <= 2_000_000, `${memory.heldBytes} bytes are held`);
    connection.close();
    lease.end();
    assert.equal(memory.heldBytes, 0);
  });

  it('are aborted for a client that does not read when another tenant waits for the memory', async () => {
    const budget = new ByteBudget({ totalBytes: 10_000_000, uncountedBytes: 0 });
    let ended = 0;
    const url = await serve(async (ctx) => {
      const lease = budget.lease('user:1');
      await sendJson(ctx, { text: lazyText(() => textOf(60), 8_000_000) }, lease);
      lease.end();
      ended += 1;
    });
    const connection = await openRaw(url);
    connection.socket.pause();
    connection.send(head('GET / HTTP/1.1', 'Host: x'));
    let before = -1;
    await eventually(
      () => {
        const isStill = budget.heldBytes > 0 && budget.heldBytes === before;
        before = budget.heldBytes;
        return isStill;
      },
      { timeoutMs: 20_000, intervalMs: 500 },
    );
    assert.equal(ended, 0);
    const neighbour = budget.lease('user:2');
    await neighbour.resize(9_000_000);
    neighbour.end();
    await eventually(() => ended === 1);
    assert.equal(budget.heldBytes, 0);
    connection.close();
  });

  it('break off when their source fails midway, and are a 500 when it fails before the first piece', async () => {
    const lease = memory.lease('user:1');
    const failing = (pieces: number) =>
      lazyText(async function* () {
        yield* textOf(pieces);
        throw new Error('expired');
      }, 1_000);
    const isLate = { value: false };
    const url = await serve((ctx) => sendJson(ctx, { text: failing(isLate.value ? 3 : 0) }, lease));
    assert.equal((await fetch(url)).status, 500);
    isLate.value = true;
    const answer = await fetch(url);
    assert.equal(answer.status, 200);
    await assert.rejects(answer.text());
    lease.end();
  });

  it('count the memory of a complete answer until the lease ends', async () => {
    const lease = memory.lease('user:1');
    const url = await serve((ctx) => sendBytes(ctx, 'é'.repeat(500_000), lease));
    const answer = await fetch(url);
    assert.equal(answer.headers.get('content-length'), '1000000');
    assert.equal((await answer.text()).length, 500_000);
    assert.equal(lease.bytes, 2_000_000);
    lease.end();
    assert.equal(memory.heldBytes, 0);
  });
});
