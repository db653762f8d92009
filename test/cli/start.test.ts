import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { stackFile, type ChildName } from '../../cli/embedded/stack-file.js';
import { Browser } from '../api/sessions/people.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain } from '../../harness/drawing/drawing.js';
import { processesOf } from '../../harness/processes/family.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { makeDataDir, portsOf } from '../../harness/stack/supervisor.js';

describe('npm start', function () {
  this.timeout(120_000);

  describe('while it runs', () => {
    let stack: TestStack;
    let api: ApiClient;

    before(async () => {
      stack = await startStack();
      api = createApiClient(stack.apiUrl, stack.apiKey);
    });
    after(() => stack.stop());

    it('says in stack.json how to reach every part, to its owner only', async () => {
      const { pids, ...file } = stack.stack;
      assert.deepEqual(Object.keys(pids).toSorted(), ['api', 'postgres', 'temporal', 'worker']);
      assert.deepEqual(Object.keys(file), [
        'api_url',
        'api_key',
        'user_id',
        'temporal_address',
        'temporal_namespace',
        'temporal_ui_url',
        'database_url',
        'internal_token',
        'configured_secrets',
      ]);
      assert.equal(statSync(stackFile(stack.dataDir)).mode & 0o777, 0o600);
      assert.equal(statSync(path.join(stack.dataDir, 'secrets.json')).mode & 0o777, 0o600);
      assert.equal((await fetch(file.temporal_ui_url)).status, 200);
      assert.equal((await api.get('/projects/')).status, 200);
    });

    it('prints a link that signs the local user in, once', async () => {
      const form = /^Console: (\S+)#token=([\w-]{43})$/m;
      const [, url, token] = await eventually(() => form.exec(stack.logs()) ?? false);
      assert.equal(new URL(url!).origin, stack.apiUrl);
      const browser = new Browser(stack.apiUrl);
      const { status, body } = await browser.post('link/', { token });
      assert.deepEqual([status, body.user.id, body.user.is_admin], [200, stack.stack.user_id, true]);
      assert.equal((await browser.post('link/', { token })).status, 401);
    });

    it('gives the local user 6000 requests a minute', async () => {
      const { headers } = await api.get('/projects/');
      const limit = headers.get('x-ratelimit-limit');
      assert.ok(limit === null || limit === '6000');
    });

    for (const name of ['api', 'worker', 'temporal', 'postgres'] as ChildName[]) {
      it(`starts a killed ${name} again, its pid follows, and runs go through`, async () => {
        const pid = stack.stack.pids[name]!;
        process.kill(pid, 'SIGKILL');
        await eventually(() => {
          const now = stack.stack.pids[name];
          return now !== undefined && now !== pid && process.kill(now, 0);
        });
        // The parts reconnect within the time-out, whichever of them was killed.
        await eventually(
          async () => {
            const { status } = await api.runToEnd(chain(3), {}, { timeoutMs: 20_000 });
            assert.equal(status, 'succeed');
            return true;
          },
          { timeoutMs: 45_000, intervalMs: 200 },
        );
      });
    }

    it('keeps no key, token or password in its logs', () => {
      const { api_key: key, internal_token: token, database_url: url } = stack.stack;
      const secrets = JSON.parse(readFileSync(path.join(stack.dataDir, 'secrets.json'), 'utf8')) as Record<
        string,
        string
      >;
      const logs = stack.logs();
      for (const secret of [key, token, url, ...Object.values(secrets).filter((value) => typeof value === 'string')])
        assert.ok(!logs.includes(secret));
    });
  });

  describe('over its life', () => {
    const dataDir = makeDataDir();
    after(() => rmSync(dataDir, { recursive: true, force: true }));

    it('removes stack.json on SIGTERM, leaves nothing running, and the next start has its state', async () => {
      const first = await startStack({ dataDir });
      await createApiClient(first.apiUrl, first.apiKey).createProject('survivor');
      await first.stop();
      assert.ok(!existsSync(stackFile(dataDir)));
      const second = await startStack({ dataDir });
      try {
        assert.equal(second.apiKey, first.apiKey);
        const api = createApiClient(second.apiUrl, second.apiKey);
        const { body } = await api.get<{ total: number }>('/projects/?name__icontains=survivor');
        assert.equal(body.total, 1);
      } finally {
        await second.stop();
      }
    });

    it('starts again after a kill -9 of the supervisor, clearing away the children it left', async () => {
      const first = await startStack({ dataDir });
      const left = Object.values(first.stack.pids);
      first.supervisor.kill('SIGKILL');
      await once(first.supervisor, 'close');
      const second = await startStack({ dataDir });
      try {
        for (const pid of left) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
        assert.equal((await createApiClient(second.apiUrl, second.apiKey).get('/projects/')).status, 200);
      } finally {
        await first.modelProvider.close();
        await second.stop();
      }
      assert.deepEqual(processesOf(dataDir), []);
    });

    it('leaves nothing running where the program that started it has ended, and nobody reads its output', async () => {
      const stack = await startStack({ dataDir });
      const { stdin, stdout, stderr } = stack.supervisor;
      const ended = once(stack.supervisor, 'exit');
      stdout!.destroy();
      stderr!.destroy();
      stdin!.destroy();
      assert.deepEqual(await ended, [0, null]);
      await stack.modelProvider.close();
      assert.deepEqual(processesOf(dataDir), []);
    });

    it('starts again within a second of a kill -9 of everything, the supervisor included, with its state', async () => {
      const first = await startStack({ dataDir });
      await createApiClient(first.apiUrl, first.apiKey).createProject('resurrected');
      const ended = once(first.supervisor, 'close');
      // The supervisor is killed first, because it would restart the others.
      const pids = [first.supervisor.pid!, ...Object.values(first.stack.pids)];
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      const second = await startStack({ dataDir, env: portsOf(first) });
      try {
        await ended;
        const api = createApiClient(second.apiUrl, second.apiKey);
        const { body } = await api.get<{ total: number }>('/projects/?name__icontains=resurrected');
        assert.equal(body.total, 1);
        assert.equal((await api.runToEnd(chain(3))).status, 'succeed');
      } finally {
        await first.modelProvider.close();
        await second.stop();
      }
    });
  });

  it('runs twice side by side with two data directories', async () => {
    const [left, right] = await Promise.all([startStack(), startStack()]);
    try {
      assert.notEqual(left.apiUrl, right.apiUrl);
      const api = createApiClient(left.apiUrl, left.apiKey);
      assert.equal((await api.runToEnd(chain(2))).status, 'succeed');
      assert.equal((await createApiClient(right.apiUrl, left.apiKey).get('/projects/')).status, 401);
    } finally {
      await Promise.all([left.stop(), right.stop()]);
    }
  });
});
