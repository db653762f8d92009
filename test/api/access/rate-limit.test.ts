import assert from 'node:assert/strict';
import pg from 'pg';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeKey, revokeAccess, type Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import type { Detail } from '../bodies.js';

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit-policy', 'ratelimit'];
const UNKNOWN_RUN = '/workflows/workflow_result/?id=00000000-0000-4000-8000-000000000000';

describe('rate limit', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  const limited = (rateLimit: number | null): Promise<Account> => createAccount(stack, rateLimit);
  const list = (api: ApiClient): Promise<ApiAnswer<Detail>> => api.get<Detail>('/projects/?size=0');
  const setLimit = (account: Account, limit: number | null): Promise<object[]> =>
    queryDatabase(stack, 'UPDATE api_keys SET rate_limit = $2 WHERE id = $1', [account.keyId, limit]);
  const endWindow = (account: Account): Promise<object[]> =>
    queryDatabase(stack, 'UPDATE rate_limits SET window_ends_at = now() WHERE key_id = $1', [account.keyId]);
  const remainingOf = ({ headers }: { headers: Headers }): number => Number(headers.get('x-ratelimit-remaining'));
  const namesIn = ({ headers }: { headers: Headers }): string[] => NAMES.filter((name) => headers.has(name));

  describe('headers', () => {
    it('contain the limit, the rest and the reset, in the usual form and in that of the IETF draft', async () => {
      const { api } = await limited(7);
      const before = Date.now() / 1000;
      await list(api);
      const { headers } = await list(api);
      const reset = Number(headers.get('x-ratelimit-reset'));
      assert.ok(reset > before + 55 && reset <= before + 65, String(reset));
      assert.deepEqual([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')], ['7', '5']);
      assert.equal(headers.get('ratelimit-policy'), '"default";q=7;w=60');
      assert.match(headers.get('ratelimit') ?? '', /^"default";r=5;t=(5[5-9]|60)$/);
      assert.equal(headers.get('retry-after'), null);
    });

    it('are on every answer to a key, whatever its status', async () => {
      const account = await limited(100);
      const { api } = account;
      const created = await api.post<{ id: number }>('/projects/', { body: { name: 'x' } });
      const foreign = await (await createAccount(stack)).api.createProject();
      await giveRole(stack, account, foreign, 'viewer');
      const text = { text: 'x', headers: { 'content-type': 'text/plain' } };
      const answers = [
        created,
        await api.get('/projects/'),
        await api.post('/projects/', { text: '{broken' }),
        await api.post('/projects/', { body: {} }),
        await api.patch(`/projects/${foreign}/`, { body: {} }),
        await api.get('/projects/999999/'),
        await api.post('/projects/', text),
        await api.delete(`/projects/${created.body.id}/`),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 200, 400, 400, 403, 404, 415, 204],
      );
      for (const answer of answers) assert.deepEqual(namesIn(answer), NAMES);
      assert.deepEqual(answers.map(remainingOf), [99, 98, 97, 96, 95, 94, 93, 92]);
      await revokeAccess(stack, account);
      const refused = await list(api);
      assert.deepEqual([refused.status, remainingOf(refused)], [403, 91]);
    });

    it('are absent without a valid key or session: no credentials, a wrong key, the internal token', async () => {
      const update = '/workflows/execution-update/00000000-0000-4000-8000-000000000000/';
      const internal = { session: readSecrets(stack.dataDir)!.INTERNAL_SERVICE_TOKEN };
      const report = { body: { sequence: 1, status: 'in progress' } };
      const answers = [
        await list(createApiClient(stack.apiUrl)),
        await list(createApiClient(stack.apiUrl, 'wrong')),
        await createApiClient(stack.apiUrl, internal).post(update, report),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [401, 401, 404],
      );
      for (const answer of answers) assert.deepEqual(namesIn(answer), []);
    });
  });

  describe('429', () => {
    it('answers the first request above the limit, with a body and Retry-After, and nothing is executed', async () => {
      const { api } = await limited(3);
      for (const remaining of [2, 1, 0]) assert.equal(remainingOf(await list(api)), remaining);
      const { status, headers, body } = await api.post<Detail>('/projects/', { body: { name: 'too much' } });
      const seconds = Number(headers.get('retry-after'));
      assert.ok(seconds >= 50 && seconds <= 60, String(seconds));
      const detail = `Request was throttled. Expected available in ${seconds} seconds.`;
      assert.deepEqual([status, body], [429, { detail, code: 'throttled' }]);
      assert.deepEqual(namesIn({ headers }), NAMES);
      assert.equal(headers.get('ratelimit'), `"default";r=0;t=${seconds}`);
      assert.deepEqual(await queryDatabase(stack, "SELECT id FROM projects WHERE name = 'too much'"), []);
    });

    it('polls and run starts count like everything else', async () => {
      const owner = await createAccount(stack);
      const workflow = await owner.api.createWorkflow(await owner.api.createProject(), chain(1));
      await setLimit(owner, 8);
      assert.equal(remainingOf(await owner.api.get(UNKNOWN_RUN)), 5);
      assert.equal(remainingOf(await owner.api.post(`/workflows/${workflow}/run/`)), 4);
    });

    it('a user whose access is withdrawn gets 403, even above the limit', async () => {
      const account = await limited(1);
      await list(account.api);
      await revokeAccess(stack, account);
      assert.deepEqual([(await list(account.api)).status, (await list(account.api)).status], [403, 403]);
    });

    it('the requests of each key are counted separately, even those of the same user', async () => {
      const [first, second] = [await limited(1), await limited(1)];
      await queryDatabase(stack, 'UPDATE api_keys SET user_id = $2 WHERE id = $1', [second.keyId, first.userId]);
      assert.deepEqual([(await list(first.api)).status, (await list(first.api)).status], [200, 429]);
      assert.equal((await list(second.api)).status, 200);
    });

    it('the whole limit is available again when the window has ended', async () => {
      const account = await limited(2);
      const statuses = async (): Promise<number[]> =>
        (await Promise.all([1, 2, 3].map(() => list(account.api))))
          .map(({ status }) => status)
          .toSorted((a, b) => a - b);
      assert.deepEqual(await statuses(), [200, 200, 429]);
      assert.deepEqual(await statuses(), [429, 429, 429]);
      await endWindow(account);
      assert.deepEqual(await statuses(), [200, 200, 429]);
    });
  });

  describe('the limit', () => {
    it('is DEFAULT_RATE_LIMIT for a key without a limit of its own', async () => {
      const { api, apiKey } = await limited(null);
      assert.equal((await list(api)).headers.get('x-ratelimit-limit'), '60');
      const other = await startApiProcess(stack, { DEFAULT_RATE_LIMIT: '5' });
      try {
        assert.equal((await list(createApiClient(other.apiUrl, apiKey))).headers.get('x-ratelimit-limit'), '5');
      } finally {
        assert.equal(await other.stop(), 0);
      }
    });

    it('may change at any time, with effect from the next request', async () => {
      const account = await limited(2);
      await list(account.api);
      await list(account.api);
      assert.equal((await list(account.api)).status, 429);
      await setLimit(account, 10);
      const raised = await list(account.api);
      assert.deepEqual([raised.status, remainingOf(raised)], [200, 6]);
      await setLimit(account, 4);
      assert.equal((await list(account.api)).status, 429);
    });
  });

  describe('the store', () => {
    it('a request that waits for its count is not served yet, does not block other keys, and counts once', async () => {
      const [slow, other] = [await limited(5), await limited(5)];
      await list(slow.api);
      const locker = new pg.Client({ connectionString: stack.stack.database_url });
      await locker.connect();
      try {
        await locker.query('BEGIN');
        await locker.query('SELECT 1 FROM rate_limits WHERE key_id = $1 FOR UPDATE', [slow.keyId]);
        let isAnswered = false;
        const waiting = list(slow.api).finally(() => (isAnswered = true));
        await eventually(async () => {
          const held = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%rate_limits%'";
          return (await queryDatabase(stack, held)).length > 0;
        });
        assert.equal((await list(other.api)).status, 200);
        assert.equal(isAnswered, false);
        await locker.query('COMMIT');
        const answer = await waiting;
        assert.deepEqual([answer.status, remainingOf(answer)], [200, 3]);
      } finally {
        await locker.end();
      }
    });

    it('a request that cannot be counted is refused: without a database every key gets a 503', async () => {
      const { apiKey } = await limited(5);
      const cut = await startApiProcess(stack, { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/none' });
      try {
        const answer = await list(createApiClient(cut.apiUrl, apiKey));
        assert.deepEqual([answer.status, answer.body.code, namesIn(answer)], [503, 'unavailable', []]);
      } finally {
        assert.equal(await cut.stop(), 0);
      }
    });

    it('ended windows are removed, also those of deleted keys; current ones stay', async () => {
      const [ended, deleted, current] = [await limited(5), await limited(5), await limited(5)];
      for (const { api } of [ended, deleted, current]) await list(api);
      await removeKey(stack, deleted);
      for (const account of [ended, deleted]) await endWindow(account);
      const sweeping = await startApiProcess(stack);
      try {
        await eventually(async () => {
          const ids = [ended, deleted, current].map(({ keyId }) => keyId);
          const rows = await queryDatabase(stack, 'SELECT key_id FROM rate_limits WHERE key_id = ANY ($1)', [ids]);
          assert.deepEqual(rows, [{ key_id: current.keyId }]);
          return true;
        });
      } finally {
        assert.equal(await sweeping.stop(), 0);
      }
    });
  });
});
