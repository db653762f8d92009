import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, openSession } from '../accounts.js';
import type { Detail } from '../bodies.js';
import { Browser, createPerson, signedIn } from './people.js';

interface Session {
  id: string;
  method: string;
  network: string;
  user_agent: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  is_current: boolean;
}

interface Page {
  page: number;
  size: number;
  total: number;
  items: Session[];
}

describe('the sessions of a user', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  const apiOf = (session: string) => createApiClient(stack.apiUrl, { session });
  const listOf = async (session: string, query = ''): Promise<Page> =>
    (await apiOf(session).get<Page>(`/auth/sessions/${query}`)).body;

  it('are listed, the last used one first, with where and how they were opened, and nothing of their tokens', async () => {
    const person = await createPerson(stack);
    const first = await signedIn(stack, person);
    const browser = new Browser(stack.apiUrl);
    const agent = `Test/1.0 ${'x'.repeat(300)}`;
    const { body } = await browser.logIn(person, { 'user-agent': agent });
    const page = await listOf(body.access_token);
    assert.deepEqual([page.page, page.size, page.total, page.items.length], [1, 10, 2, 2]);
    const [newest, oldest] = page.items as [Session, Session];
    assert.deepEqual([newest.is_current, oldest.is_current], [true, false]);
    assert.deepEqual(
      [newest.method, newest.network, newest.user_agent],
      ['password', '127.0.0.1', agent.slice(0, 255)],
    );
    for (const field of ['created_at', 'last_used_at', 'expires_at'] as const) {
      assert.match(newest[field], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.deepEqual(Object.keys(newest).toSorted(), [
      'created_at',
      'expires_at',
      'id',
      'is_current',
      'last_used_at',
      'method',
      'network',
      'user_agent',
    ]);
    await first.browser.refresh();
    assert.deepEqual(
      (await listOf(body.access_token)).items.map(({ id }) => id),
      [oldest.id, newest.id],
    );
    const second = await listOf(body.access_token, '?page=2&size=1');
    assert.deepEqual([second.total, second.items.map(({ id }) => id)], [2, [newest.id]]);
  });

  it('can be ended one by one, with their tokens; an ended one is gone, also for a second time', async () => {
    const person = await createPerson(stack);
    const [mine, lost] = [await signedIn(stack, person), await signedIn(stack, person)];
    const target = (await listOf(lost.session)).items.find(({ is_current }) => is_current)!;
    const path = `/auth/sessions/${target.id}/`;
    assert.equal((await apiOf(mine.session).delete(path)).status, 204);
    assert.equal((await apiOf(lost.session).get('/projects/')).status, 401);
    assert.equal((await lost.browser.refresh()).status, 401);
    assert.equal((await apiOf(mine.session).delete(path)).status, 404);
    const page = await listOf(mine.session);
    assert.deepEqual([page.total, page.items[0]?.is_current], [1, true]);
  });

  it('of somebody else, an unknown one and what is no id are not found', async () => {
    const [mine, other] = [
      await signedIn(stack, await createPerson(stack)),
      await signedIn(stack, await createPerson(stack)),
    ];
    const [theirs] = (await listOf(other.session)).items;
    for (const id of [theirs!.id, randomUUID(), '1', 'x']) {
      const { status, body } = await apiOf(mine.session).delete<Detail>(`/auth/sessions/${id}/`);
      assert.deepEqual([status, body.code], [404, 'not_found'], id);
    }
    assert.equal((await apiOf(other.session).get('/projects/')).status, 200);
  });

  it('are refused to an API key; a token of another service lists them, and opens none itself', async () => {
    const account = await createAccount(stack);
    const refused = await account.api.get<Detail>('/auth/sessions/');
    assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied']);
    const page = await listOf((await openSession(stack, account)).session);
    assert.deepEqual([page.total, page.items], [0, []]);
  });
});
