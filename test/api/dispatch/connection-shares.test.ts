import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import Koa from 'koa';
import { z } from 'zod';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import type { AppState } from '../../../api/http/app-state.js';
import { dispatch } from '../../../api/dispatch/dispatch.js';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { routesOf } from '../../../api/http/route.js';
import { closeServer, listen } from '../../../api/http/server.js';
import { createLogger } from '../../../telemetry/logger.js';
import { sharedPool } from '../../../db/core/tenants.js';
import { ByteBudget } from '../../../memory/byte-budget.js';

describe('the database connections that a request takes', () => {
  it('count for its caller, even those that are taken while the answer is being sent', async () => {
    const asked: string[] = [];
    let givenBack = 0;
    const pool = sharedPool(
      {
        connect: () => Promise.resolve({ query: () => assert.fail(), release: () => undefined }),
        end: () => Promise.resolve(),
      },
      (tenant) => {
        asked.push(tenant);
        return Promise.resolve(() => void (givenBack += 1));
      },
    );
    const takeOne = async (): Promise<void> => (await pool.connect()).release();
    const route = routesOf()({
      method: 'GET',
      path: '/x/',
      summary: 'x',
      auth: 'key',
      responses: { 200: z.object({}) },
      async handler() {
        await takeOne();
        async function* body(): AsyncGenerator<string> {
          await takeOne();
          yield '{}';
        }
        return { status: 200, body: Readable.from(body()) };
      },
    });
    const caller = { userId: 7, keyId: 1, projectId: null, apiAccess: true, rateLimit: 9, requests: 1, scope: 'full' };
    const deps = {
      keyCounter: { count: () => Promise.resolve({ ...caller, resetAtSeconds: 1, resetInSeconds: 1 }) },
      memory: new ByteBudget({ totalBytes: 1_000, uncountedBytes: 0 }),
      heavyWork: new HeavyWork(),
      config: {},
      signIn: { trustedProxies: () => false },
    } as unknown as DispatchDeps;
    const app = new Koa<AppState>();
    app.use(async (ctx, next) => {
      ctx.state.log = createLogger('test', 'silent');
      await next();
    });
    for (const step of dispatch(route, deps)) app.use(step as Koa.Middleware<AppState>);
    const callback = app.callback();
    const server = await listen((request, response) => void callback(request, response), {
      host: '127.0.0.1',
      port: 0,
    });
    try {
      const answer = await fetch(`http://127.0.0.1:${server.port}/x/`, { headers: { 'x-api-key': 'k' } });
      assert.equal(await answer.text(), '{}');
      assert.deepEqual([asked, givenBack], [['user:7', 'user:7'], 2]);
      await takeOne();
      assert.equal(asked.length, 2, 'what nobody has asked for counts for nobody');
    } finally {
      await closeServer(server);
    }
  });
});
