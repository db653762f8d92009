// The rate limit on the requests of a user's sessions.
import assert from 'node:assert/strict';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, openSession, type Account } from '../accounts.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import type { Detail } from '../bodies.js';
import { createPerson, signedIn } from '../sessions/people.js';

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit-policy', 'ratelimit'];
const LIMIT = 5;

describe('the rate limit of sessions', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let strict: ApiProcess;

  before(async () => {
    stack = await sharedStack();
    strict = await startApiProcess(stack, { SESSION_RATE_LIMIT: String(LIMIT) });
  });
  after(async () => assert.equal(await strict.stop(), 0));

  const clientOf = async (account: Account): Promise<ApiClient> =>
    createApiClient(strict.apiUrl, await openSession(stack, account));
  const list = (client: ApiClient): Promise<ApiAnswer<Detail>> => client.get<Detail>('/projects/?size=0');
  const remainingOf = ({ headers }: { headers: Headers }): number => Number(headers.get('x-ratelimit-remaining'));

  it('has the same headers as the limit of keys, and above it the answer is 429 with Retry-After', async () => {
    const client = await clientOf(await createAccount(stack));
    for (const left of [4, 3, 2, 1, 0]) {
      const answer = await list(client);
      assert.deepEqual([answer.status, remainingOf(answer)], [200, left]);
      assert.deepEqual(
        NAMES.filter((name) => answer.headers.has(name)),
        NAMES,
      );
    }
    const { status, headers, body } = await client.post<Detail>('/projects/', { body: { name: 'too much' } });
    assert.deepEqual([status, body.code, headers.get('x-ratelimit-limit')], [429, 'throttled', String(LIMIT)]);
    assert.ok(Number(headers.get('retry-after')) >= 50);
    assert.deepEqual(
      NAMES.filter((name) => headers.has(name)),
      NAMES,
    );
    assert.equal((await list(client)).status, 429);
  });

  it('counts all session tokens of a user together, our own and foreign ones, and no keys', async () => {
    const person = await createPerson(stack);
    const account = { userId: person.userId } as Account;
    const own = await Promise.all([1, 2].map(async () => (await signedIn(stack, person)).session));
    const clients = [...own.map((session) => createApiClient(strict.apiUrl, { session })), await clientOf(account)];
    const before = await queryDatabase(stack, 'SELECT requests FROM session_rate_limits WHERE user_id = $1', [
      person.userId,
    ]);
    assert.deepEqual(before, []);
    const answers = await Promise.all([...clients, ...clients, ...clients].map(list));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429, 429]);
    const other = await createAccount(stack);
    assert.equal(remainingOf(await list(await clientOf(other))), LIMIT - 1, 'another user has a limit of their own');
    const byKey = await list(createApiClient(strict.apiUrl, other.apiKey));
    assert.equal(byKey.status, 200);
    assert.equal(remainingOf(await list(await clientOf(other))), LIMIT - 2, 'the key is counted apart');
  });

  it('does not count 304s, and allows them even above the limit', async () => {
    const account = await createAccount(stack);
    const { runId } = await account.api.runToEnd(chain(1));
    const client = await clientOf(account);
    const path = `/workflows/workflow_result/?id=${runId}`;
    const first = await client.get(path);
    const known = { headers: { 'if-none-match': first.headers.get('etag')! } };
    for (let count = 0; count < 3; count += 1) {
      const answer = await client.get(path, known);
      assert.deepEqual([answer.status, remainingOf(answer)], [304, LIMIT - 1]);
    }
    const changed = await client.get(path, { headers: { 'if-none-match': 'W/"another"' } });
    assert.deepEqual([changed.status, remainingOf(changed)], [200, LIMIT - 2]);
    for (let count = 0; count < 4; count += 1) await list(client);
    assert.equal((await client.get(path)).status, 429);
    assert.equal((await client.get(path, known)).status, 304);
    const { status } = await client.get(path, { headers: { 'if-none-match': 'W/"another"' } });
    assert.equal(status, 429, 'what is no 304 after all is throttled');
    const foreign = `/workflows/workflow_result/?id=${(await (await createAccount(stack)).api.runToEnd(chain(1))).runId}`;
    assert.equal((await client.get(foreign, { headers: { 'if-none-match': 'W/"x"' } })).status, 429);
  });

  it('a token that names no user is not counted, and the limit is available again in the next minute', async () => {
    const account = await createAccount(stack);
    const client = await clientOf(account);
    for (let count = 0; count < 6; count += 1) await list(client);
    assert.equal((await list(client)).status, 429);
    await queryDatabase(stack, 'UPDATE session_rate_limits SET window_ends_at = now() WHERE user_id = $1', [
      account.userId,
    ]);
    assert.equal((await list(client)).status, 200);
    const nobody = await list(createApiClient(strict.apiUrl, { session: 'a.b.c' }));
    assert.deepEqual([nobody.status, NAMES.some((name) => nobody.headers.has(name))], [401, false]);
  });
});
