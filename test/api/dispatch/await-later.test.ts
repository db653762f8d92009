import assert from 'node:assert/strict';
import Koa from 'koa';
import { z } from 'zod';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import { dispatch } from '../../../api/dispatch/dispatch.js';
import type { AppState } from '../../../api/http/app-state.js';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { lazyText } from '../../../api/http/json-text.js';
import { routesOf, type RouteResult } from '../../../api/http/route.js';
import { closeServer, listen, type ListeningServer } from '../../../api/http/server.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { createLogger } from '../../../telemetry/logger.js';
import { head, openRaw } from '../../support/raw-http.js';

const MB = 1_000_000;

describe('an answer that is deferred', function () {
  this.timeout(120_000);
  let server: ListeningServer;
  let memory: ByteBudget;
  let isSent: boolean;

  /** Serves a route whose handler leases memory, as reading a body does, and returns `later` for its answer. */
  async function serve(later: () => Promise<RouteResult>): Promise<string> {
    memory = new ByteBudget({ totalBytes: 10 * MB, uncountedBytes: 0 });
    isSent = false;
    const route = routesOf()({
      method: 'GET',
      path: '/x/',
      summary: 'x',
      auth: 'key',
      responses: { 200: z.object({}) },
      async handler({ memory: lease }) {
        await lease.resize(MB);
        return { status: 200, later };
      },
    });
    const caller = { userId: 7, keyId: 1, projectId: null, apiAccess: true, rateLimit: 9, requests: 1, scope: 'full' };
    const deps = {
      keyCounter: { count: () => Promise.resolve({ ...caller, resetAtSeconds: 1, resetInSeconds: 1 }) },
      memory,
      heavyWork: new HeavyWork(),
      config: {},
      signIn: { trustedProxies: () => false },
    } as unknown as DispatchDeps;
    const app = new Koa<AppState>();
    app.silent = true;
    app.use(async (ctx, next) => {
      ctx.state.log = createLogger('test', 'silent');
      await next().finally(() => (isSent = true));
    });
    for (const step of dispatch(route, deps)) app.use(step as Koa.Middleware<AppState>);
    const callback = app.callback();
    server = await listen((request, response) => void callback(request, response), { host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${server.port}`;
  }
  afterEach(() => closeServer(server));

  // oxlint-disable-next-line typescript/require-await -- the sources of pieces are asynchronous
  async function* pieces(): AsyncGenerator<string> {
    yield '"';
    for (let piece = 0; piece < 60; piece += 1) yield 'x'.repeat(MB);
    yield '"';
  }
  const text = 'x'.repeat(60 * MB);
  const bodies: Record<string, [body: () => unknown, heldBytes: number]> = {
    'in pieces': [() => ({ text: lazyText(pieces, 4 * MB) }), 2 * MB],
    // Only the oldest lease may exceed the budget, as this one does.
    'as a whole': [() => ({ text }), 120 * MB + 22],
  };
  for (const [form, [body, heldBytes]] of Object.entries(bodies)) {
    it(`holds no memory while it waits, and its unread part gives memory back to other tenants: ${form}`, async () => {
      let heldBefore = -1;
      const url = await serve(() => {
        heldBefore = memory.heldBytes;
        return Promise.resolve({ status: 200, body: body() });
      });
      const connection = await openRaw(url);
      connection.socket.pause();
      connection.send(head('GET /x/ HTTP/1.1', 'Host: x', 'X-API-Key: k'));
      let before = -1;
      await eventually(
        () => {
          const isStill = memory.heldBytes > 0 && memory.heldBytes === before;
          before = memory.heldBytes;
          return isStill;
        },
        { timeoutMs: 20_000, intervalMs: 500 },
      );
      assert.deepEqual([heldBefore, isSent], [0, false]);
      assert.ok(memory.heldBytes <= heldBytes, `${memory.heldBytes} bytes are held`);
      const neighbour = memory.lease('user:2');
      await neighbour.resize(9 * MB);
      await eventually(() => isSent);
      neighbour.end();
      assert.equal(memory.heldBytes, 0);
      connection.close();
    });
  }

  it('gives all memory back when it was read, and when it is an error', async () => {
    const url = await serve(() => Promise.resolve({ status: 200, body: { text: 'x'.repeat(MB) } }));
    const ask = () => fetch(`${url}/x/`, { headers: { 'x-api-key': 'k' } });
    assert.deepEqual(await (await ask()).json(), { text: 'x'.repeat(MB) });
    await eventually(() => isSent && memory.heldBytes === 0);
    await closeServer(server);
    const failing = await serve(() => Promise.reject(new Error('it cannot be read')));
    assert.equal((await fetch(`${failing}/x/`, { headers: { 'x-api-key': 'k' } })).status, 500);
    assert.equal(memory.heldBytes, 0);
  });
});
