import assert from 'node:assert/strict';
import Koa from 'koa';
import { z } from 'zod';
import type { AppState } from '../../../api/http/app-state.js';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import { dispatch } from '../../../api/dispatch/dispatch.js';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { routesOf } from '../../../api/http/route.js';
import { closeServer, listen } from '../../../api/http/server.js';
import { createLogger } from '../../../telemetry/logger.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { chain, drawing, link, node, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { head, openRaw, statusesIn } from '../../support/raw-http.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';

const withheld = (path: string) =>
  head(`POST ${path} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: chunked', 'Connection: close');

describe('requests of unknown clients', function () {
  this.timeout(120_000);

  it('to an unknown callback or hook are answered without reading a byte of the body', async () => {
    const { apiUrl } = await sharedStack();
    for (const path of ['callbacks', 'hooks']) {
      for (const token of ['x', 'x'.repeat(43)]) {
        const connection = await openRaw(apiUrl);
        connection.send(withheld(`/api/v1/${path}/${token}/`));
        assert.deepEqual(statusesIn(await connection.ended()), [404], `${path} ${token}`);
      }
    }
  });

  it('to sign in may have at most 64 KiB', async () => {
    const { apiUrl } = await sharedStack();
    for (const path of ['auth/login', 'auth/link']) {
      const body = JSON.stringify({ token: 'x', email: 'x', password: 'x', padding: 'x'.repeat(65_536) });
      const answer = await fetch(`${apiUrl}/api/v1/${path}/`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(answer.status, 413, path);
    }
  });

  it('to a hook that verifies signatures may have 1 MiB, and more to one that does not', async () => {
    const stack = await sharedStack();
    const { api } = await createAccount(stack);
    const workflow = await api.createWorkflow(await api.createProject(), chain(1));
    const statuses: number[] = [];
    for (const verify of ['none', 'standard-webhooks']) {
      const made = await api.post<{ url: string }>(`/workflows/${workflow}/hooks/`, { body: { verify } });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const address = stack.apiUrl + new URL(made.body.url).pathname;
      const body = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
      statuses.push((await fetch(address, { method: 'POST', body })).status);
    }
    assert.deepEqual(statuses, [202, 413]);
  });

  it('get an aborted signal if the client disconnects while its key is checked', async () => {
    let admit = (): void => undefined;
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    let isAsked = false;
    let seen: AbortSignal | undefined;
    const route = routesOf()({
      method: 'GET',
      path: '/x/',
      summary: 'x',
      auth: 'key',
      responses: { 200: z.object({}) },
      handler({ signal }) {
        seen = signal;
        return { status: 200, body: {} };
      },
    });
    const caller = { userId: 1, keyId: 1, projectId: null, apiAccess: true, rateLimit: 9, requests: 1, scope: 'full' };
    const key = { ...caller, resetAtSeconds: 1, resetInSeconds: 1 };
    const deps = {
      keyCounter: {
        count() {
          isAsked = true;
          return admitted.then(() => key);
        },
      },
      memory: new ByteBudget({ totalBytes: 1_000, uncountedBytes: 0 }),
      heavyWork: new HeavyWork(),
      config: {},
      signIn: { trustedProxies: () => false },
    } as unknown as DispatchDeps;
    const app = new Koa<AppState>();
    app.silent = true;
    app.use(async (ctx, next) => {
      ctx.state.log = createLogger('test', 'silent');
      await next();
    });
    for (const step of dispatch(route, deps)) app.use(step as Koa.Middleware<AppState>);
    const callback = app.callback();
    let closed = false;
    const server = await listen(
      (request, response) => {
        response.once('close', () => (closed = true));
        void callback(request, response);
      },
      { host: '127.0.0.1', port: 0 },
    );
    const connection = await openRaw(`http://127.0.0.1:${server.port}`);
    connection.send(head('GET /x/ HTTP/1.1', 'Host: x', 'X-Api-Key: k'));
    await eventually(() => isAsked);
    connection.close();
    await eventually(() => closed);
    admit();
    await eventually(() => seen !== undefined);
    assert.equal(seen?.aborted, true);
    await closeServer(server);
  });
});

describe('answers with large results', function () {
  this.timeout(120_000);

  /** Draws nodes with values of a few bytes, of some kilobytes, and larger than one piece of an answer. */
  function drawLarge(): Drawing {
    const start = trigger();
    const nodes = [10, 40_000, 40_000, 300_000, 1_500_000].map((size, index) =>
      node('set', { value: { text: `${index}é`.repeat(size / 2), index } }),
    );
    link(start, nodes);
    return drawing([start, ...nodes]);
  }

  it('are complete on every route that reads a run', async () => {
    const { api } = await createAccount(await sharedStack());
    const { workflowId, runId, nodes } = await api.runToEnd(drawLarge(), { text: 'x'.repeat(100_000) });
    const sizes = Object.values(nodes).map((entry) => JSON.stringify(entry.result).length);
    assert.ok(
      sizes.some((size) => size > 2_000_000),
      String(sizes),
    );
    const whole = (await api.get<Record<string, unknown>>(`/workflows/${workflowId}/history/${runId}/`)).body;
    assert.deepEqual(whole['result'], nodes);
    assert.equal((whole['input_data'] as { text: string }).text.length, 100_000);
    const flag = `/workflows/${workflowId}/history/${runId}/toggle-api-run/`;
    const flagged = await api.post<Record<string, unknown>>(flag, { body: { is_api_run: true } });
    assert.deepEqual(flagged.body['result'], whole['result']);
    const alone = (await api.get<Record<string, unknown>>(`/runs/${runId}/`)).body;
    assert.deepEqual([alone['result'], alone['data']], [whole['result'], whole['data']]);
    for (const [id, entry] of Object.entries(nodes)) {
      const { body } = await api.get<{ result: unknown }>(`/workflows/${workflowId}/history/${runId}/nodes/${id}/`);
      assert.deepEqual(body.result, entry.result);
    }
  });

  it('are truncated in the same way in a small list and in a large one, which is read run by run', async () => {
    const { api } = await createAccount(await sharedStack());
    const { workflowId, runId } = await api.runToEnd(drawLarge());
    type Listed = { items: Record<string, unknown>[]; total: number };
    const small = (await api.get<Listed>(`/workflows/${workflowId}/history/`)).body;
    const note = 'x'.repeat(900_000);
    await api.patch(`/workflows/${workflowId}/`, { body: { data: { ...drawLarge(), note } } });
    for (let count = 0; count < 2; count += 1) await api.pollToEnd((await api.run(workflowId)).data.id);
    const large = (await api.get<Listed>(`/workflows/${workflowId}/history/`)).body;
    assert.deepEqual([large.total, large.items.length], [3, 3]);
    assert.deepEqual(
      large.items.find(({ id }) => id === runId),
      small.items[0],
    );
    const cut = Object.values(large.items[0]!['result'] as Record<string, { truncated?: boolean }>);
    assert.equal(cut.filter(({ truncated }) => truncated).length, 4);
    assert.equal(new Set(large.items.map(({ id }) => id)).size, 3);
  });
});
