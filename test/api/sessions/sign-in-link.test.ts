import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { Browser, createLink, type AuthAnswer } from './people.js';

describe('a sign-in link', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let userId: number;

  before(async () => {
    stack = await sharedStack();
    ({ userId } = await createAccount(stack));
  });

  const open = (token: unknown): Promise<AuthAnswer> => new Browser(stack.apiUrl).post('link/', { token });

  it('signs its user in like a login, once', async () => {
    const token = await createLink(stack, userId);
    const browser = new Browser(stack.apiUrl);
    const { status, body } = await browser.post('link/', { token });
    assert.deepEqual([status, body.user.id, body.token_type], [200, userId, 'Bearer']);
    assert.equal((await browser.refresh()).status, 200);
    const again = await open(token);
    assert.deepEqual([again.status, again.body.code, again.setCookie], [401, 'authentication_failed', undefined]);
  });

  it('opened many times at once signs in once', async () => {
    const token = await createLink(stack, userId);
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(token)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [200, 401, 401, 401, 401, 401, 401, 401]);
  });

  it('is good for ten minutes and no longer', async () => {
    const token = await createLink(stack, userId);
    const hash = createHash('sha256').update(token).digest();
    const [row] = await queryDatabase<{ seconds: number }>(
      stack,
      'SELECT extract(epoch FROM expires_at - created_at)::integer AS seconds FROM sign_in_links WHERE token_hash = $1',
      [hash],
    );
    assert.equal(row?.seconds, 600);
    await queryDatabase(stack, 'UPDATE sign_in_links SET expires_at = now() WHERE token_hash = $1', [hash]);
    assert.equal((await open(token)).status, 401);
  });

  it('that does not exist is a 401, and what is no token a 400', async () => {
    assert.equal((await open('x'.repeat(43))).status, 401);
    for (const token of [undefined, null, '', 1, 'x'.repeat(201), 'a\0b']) {
      assert.equal((await open(token)).status, 400, JSON.stringify(token));
    }
  });
});
