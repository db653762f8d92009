import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createDatabase } from '../../../db/core/client.js';
import { claimKey, findKeyedRun } from '../../../db/runs/idempotency-repository.js';
import type { ApiAnswer, ApiClient, Envelope } from '../../../harness/client/api-client.js';
import { chain, llm } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, openSession, type Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import type { Detail, FieldErrors, Page } from '../bodies.js';

describe('Idempotency-Key', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let apiKey: string;
  let account: Account;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api, apiKey } = account);
    project = await api.createProject();
  });

  const run = <T = Envelope>(id: number, key: string, text = '{"a":1}', client = api): Promise<ApiAnswer<T>> =>
    client.post<T>(`/workflows/${id}/run/`, { text, headers: { 'idempotency-key': key } });
  const workflow = (): Promise<number> => api.createWorkflow(project, chain(1));
  const runsOf = async (id: number): Promise<number> =>
    (await api.get<Page<unknown>>(`/workflows/${id}/history/`)).body.total;

  describe('200 and 201', () => {
    it('a repeat of a run start is answered with the first run, and says so', async () => {
      const [id, key] = [await workflow(), randomUUID()];
      const first = await run(id, key);
      await api.pollToEnd(first.body.data.id);
      const again = await run(id, key);
      assert.deepEqual([again.status, again.body], [first.status, first.body]);
      assert.deepEqual(
        [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
        [null, 'true'],
      );
      assert.equal(await runsOf(id), 1);
    });

    it('a repeat of a re-run is answered with the first re-run', async () => {
      const id = await workflow();
      const original = await api.run(id, { a: 1 });
      const key = randomUUID();
      const reRun = () =>
        api.post<Envelope>(`/workflows/${id}/history/${original.data.id}/re-run/`, {
          headers: { 'idempotency-key': key },
        });
      const [first, again] = [await reRun(), await reRun()];
      assert.deepEqual([again.status, again.body], [201, first.body]);
      assert.equal(await runsOf(id), 2);
    });

    it('a repeat of what validation refused is answered with the same draft', async () => {
      const id = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      const key = randomUUID();
      const [first, again] = [await run(id, key), await run(id, key)];
      assert.equal(first.body.status, 422);
      assert.deepEqual(again.body, first.body);
      assert.equal(await runsOf(id), 1);
    });

    it('a structural error keeps nothing, so the same key starts the mended workflow', async () => {
      const id = await api.createWorkflow(project, {});
      const key = randomUUID();
      assert.equal((await run(id, key)).body.status, 400);
      await api.patch(`/workflows/${id}/`, { body: { data: chain(1) } });
      assert.equal((await run(id, key)).body.status, 201);
    });

    it('twenty requests with one key at once, over two API processes, start one run', async () => {
      const [id, key] = [await workflow(), randomUUID()];
      const second = await startApiProcess(stack);
      try {
        const clients = [api, createApiClient(second.apiUrl, apiKey)];
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => run(id, key, '{"a":1}', clients[index % 2])),
        );
        for (const { status, body } of answers) {
          assert.deepEqual([status, body], [200, answers[0]!.body]);
        }
        assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
        assert.equal(await runsOf(id), 1);
        assert.equal((await api.pollToEnd(answers[0]!.body.data.id)).data.status, 'succeed');
      } finally {
        await second.stop();
      }
    });

    it('different keys, an empty key and no key start a run each', async () => {
      const id = await workflow();
      for (const key of [randomUUID(), randomUUID(), '', '']) assert.equal((await run(id, key)).body.status, 201);
      assert.equal(await runsOf(id), 4);
    });

    it('a key is the caller`s own: another user with the same key starts another run', async () => {
      const [id, key] = [await workflow(), randomUUID()];
      const other = await createAccount(stack);
      await giveRole(stack, other, project, 'editor');
      const answers = [await run(id, key), await run(id, key, '{"b":2}', other.api)];
      assert.notEqual(answers[0]!.body.data.id, answers[1]!.body.data.id);
      assert.deepEqual(
        answers.map(({ body }) => body.status),
        [201, 201],
      );
    });

    it('after 24 hours a key is new again, and keys that old are taken away', async () => {
      const [id, key, stale] = [await workflow(), randomUUID(), randomUUID()];
      const first = await run(id, key);
      await run(id, stale);
      const age = `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = ANY ($1)`;
      await queryDatabase(stack, age, [[key, stale]]);
      const later = await run(id, key, '{"another":"body"}');
      assert.equal(later.body.status, 201);
      assert.notEqual(later.body.data.id, first.body.data.id);
      assert.deepEqual((await run(id, key, '{"another":"body"}')).body, later.body);
      const left = await queryDatabase(stack, 'SELECT key FROM idempotency_keys WHERE key = ANY ($1)', [[key, stale]]);
      assert.deepEqual(left, [{ key }]);
    });

    it('the same JSON written otherwise is the same request', async () => {
      const [id, key] = [await workflow(), randomUUID()];
      const [first, again] = [await run(id, key, '{"a":1}'), await run(id, key, ' { "a" : 1 } ')];
      assert.deepEqual(again.body, first.body);
    });

    it('the order of object keys makes no difference, with a key and with a session, as JSON and as text', async () => {
      const [id, key] = [await workflow(), randomUUID()];
      const session = createApiClient(stack.apiUrl, await openSession(stack, account));
      const first = await run(id, key, '{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":2,"1":0}');
      const other = '{"1":0,"b":2,"a":{"y":[{"q":2,"p":1}],"x":1}}';
      const asText = await api.post<Envelope>(`/workflows/${id}/run/`, {
        text: other,
        headers: { 'idempotency-key': key, 'content-type': 'text/plain' },
      });
      const wrapped = await run(id, key, `{"other":1,"input_data":${other}}`, session);
      for (const again of [await run(id, key, other), asText, wrapped]) assert.deepEqual(again.body, first.body);
      assert.equal(await runsOf(id), 1);
    });
  });

  describe('400', () => {
    it('the same key with another body, workflow or original run is a mismatch and starts nothing', async () => {
      const [id, other, key] = [await workflow(), await workflow(), randomUUID()];
      const first = await run(id, key);
      const headers = { 'idempotency-key': key };
      const reRun = `/workflows/${id}/history/${first.body.data.id}/re-run/`;
      const answers = [
        await run<Detail>(id, key, '{"a":2}'),
        await run<Detail>(id, key, ''),
        await run<Detail>(other, key),
        await api.post<Detail>(reRun, { headers }),
        await api.post<Detail>(reRun, { headers, text: '{"a":1}' }),
      ];
      for (const { status, body } of answers) assert.deepEqual([status, body.code], [400, 'idempotency_mismatch']);
      assert.deepEqual([await runsOf(id), await runsOf(other)], [1, 0]);
    });

    it('another order of a list, another type or another last digit is a mismatch', async () => {
      const pairs = [
        ['{"a":[1,2]}', '{"a":[2,1]}'],
        ['{"a":1}', '{"a":"1"}'],
        ['{"a":12345678901234567890}', '{"a":12345678901234567891}'],
        ['{"a":{},"b":[]}', '{"a":[],"b":{}}'],
      ] as const;
      const id = await workflow();
      for (const [first, other] of pairs) {
        const key = randomUUID();
        assert.equal((await run(id, key, first)).body.status, 201, first);
        const { status, body } = await run<Detail>(id, key, other);
        assert.deepEqual([status, body.code], [400, 'idempotency_mismatch'], other);
      }
    });

    it('a key of more than 255 characters is refused', async () => {
      const id = await workflow();
      assert.equal((await run(id, 'k'.repeat(255))).body.status, 201);
      const { status, body } = await run<FieldErrors>(id, 'k'.repeat(256));
      assert.deepEqual(
        [status, body],
        [400, { 'idempotency-key': ['Ensure this field has no more than 255 characters.'] }],
      );
    });
  });

  it('the request is stored sealed, so that a short secret cannot be guessed from a hash', async () => {
    const [id, key] = [await workflow(), randomUUID()];
    await run(id, key, '{"pin":"1234"}');
    await run(id, `${key}-2`, '{"pin":"1234"}');
    const rows = await queryDatabase<{ request_enc: Buffer }>(
      stack,
      'SELECT request_enc FROM idempotency_keys WHERE key = ANY ($1)',
      [[key, `${key}-2`]],
    );
    const [one, two] = rows.map((row) => row.request_enc.toString('hex'));
    assert.ok(one !== undefined && two !== undefined && one !== two);
  });

  it('a key and its run are stored together or not at all', async () => {
    const options = { poolMax: 1, applicationName: 'test', onError: () => undefined };
    const db = createDatabase({ url: stack.stack.database_url, ...options });
    const { userId } = await createAccount(stack);
    const key = randomUUID();
    const claim = { runId: randomUUID(), requestEnc: Buffer.from('x') };
    try {
      const died = db.transaction().execute(async (transaction) => {
        assert.equal(await claimKey(transaction, { userId, key }, claim), true);
        throw new Error('died here');
      });
      await assert.rejects(died, /died here/);
      const withoutRun = db.transaction().execute((transaction) => claimKey(transaction, { userId, key }, claim));
      await assert.rejects(withoutRun, /foreign key/);
      assert.equal(await findKeyedRun(db, { userId, key }), undefined);
    } finally {
      await db.destroy();
    }
  });
});
