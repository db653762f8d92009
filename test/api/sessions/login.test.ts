import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { createApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import type { Detail } from '../bodies.js';
import { Browser, createPerson, signedIn, type Person } from './people.js';

describe('login', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let person: Person;

  before(async () => {
    stack = await sharedStack();
    person = await createPerson(stack, { slowHash: true });
  });

  const logIn = (given: Pick<Person, 'email' | 'password'>) => new Browser(stack.apiUrl).logIn(given);

  it('answers a token that works, who signed in, and the refresh cookie', async () => {
    const { status, body, setCookie } = await logIn(person);
    assert.equal(status, 200);
    const { access_token: session, ...rest } = body;
    assert.deepEqual(rest, {
      token_type: 'Bearer',
      expires_in: 3600,
      user: { id: person.userId, name: 'Ada', email: person.email, api_access: true, is_admin: false },
    });
    assert.equal((await createApiClient(stack.apiUrl, { session }).get('/projects/')).status, 200);
    const { exp = 0, iat = 0 } = decodeJwt(session);
    assert.equal(exp - iat, 3600);
    const [value, ...attributes] = (setCookie ?? '').split('; ');
    assert.match(value ?? '', /^wfa_refresh=[\w-]{43}\.[\w-]{43}$/);
    const days = 14 * 24 * 3600;
    assert.deepEqual(attributes.toSorted(), [
      'HttpOnly',
      `Max-Age=${attributes.find((text) => text.startsWith('Max-Age='))?.slice(8)}`,
      'Path=/api/v1/auth/',
      'SameSite=Strict',
    ]);
    const maxAge = Number(/Max-Age=(\d+)/.exec(setCookie ?? '')?.[1]);
    assert.ok(maxAge > days - 60 && maxAge <= days, String(maxAge));
  });

  it('matches the e-mail address without regard to case and to white space around it, the password exactly', async () => {
    assert.equal((await logIn({ ...person, email: ` ${person.email.toUpperCase()} ` })).status, 200);
    assert.equal((await logIn({ ...person, password: person.password.toUpperCase() })).status, 401);
  });

  it('refuses a wrong password, an unknown account and one without a password in the same words', async () => {
    const nobody = `${randomUUID()}@example.com`;
    const account = await createAccount(stack);
    const bare = `${randomUUID()}@example.com`;
    await queryDatabase(stack, 'UPDATE users SET email = $2 WHERE id = $1', [account.userId, bare]);
    for (const email of [person.email, nobody, bare]) {
      const { status, body, setCookie, headers } = await logIn({ email, password: 'not the password' });
      const expected = { detail: 'Wrong e-mail address or password.', code: 'authentication_failed' };
      assert.deepEqual([status, body, setCookie], [401, expected, undefined]);
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer /);
    }
  });

  it('a user without API access may sign in; the keys of the user stay refused', async () => {
    const account = await createAccount(stack);
    const outsider = await createPerson(stack, { apiAccess: false });
    await queryDatabase(stack, 'UPDATE api_keys SET user_id = $2 WHERE id = $1', [account.keyId, outsider.userId]);
    const { session } = await signedIn(stack, outsider);
    assert.equal((await createApiClient(stack.apiUrl, { session }).get('/projects/')).status, 200);
    assert.equal((await account.api.get('/projects/')).status, 403);
  });

  const wrong: [title: string, body: string, status: number][] = [
    ['is no JSON', '{', 400],
    ['is a list', '[]', 400],
    ['is empty', '{}', 400],
    ['has no password', '{"email": "a@example.com"}', 400],
    ['has an empty password', '{"email": "a@example.com", "password": ""}', 400],
    ['has numbers', '{"email": 1, "password": 2}', 400],
    ['has a null character', '{"email": "a\\u0000@example.com", "password": "x"}', 400],
    ['has half a character', '{"email": "a@example.com", "password": "\\ud800"}', 400],
    ['has a long password', JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(1025) }), 400],
    ['has a long e-mail address', JSON.stringify({ email: 'x'.repeat(321), password: 'x' }), 400],
    ['is large', JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(20_000) }), 413],
  ];
  for (const [title, text, status] of wrong) {
    it(`a body that ${title} is a ${status}`, async () => {
      const answer = await createApiClient(stack.apiUrl).post('/auth/login/', { text });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
    });
  }

  it('takes JSON only, which no form of another site can send', async () => {
    const headers = { 'content-type': 'text/plain' };
    const text = JSON.stringify({ email: person.email, password: person.password });
    const { status } = await createApiClient(stack.apiUrl).post<Detail>('/auth/login/', { text, headers });
    assert.equal(status, 415);
  });

  it('keeps passwords as scrypt, tokens as hashes, and nothing else of them', async () => {
    const { browser } = await signedIn(stack, person);
    const [stored] = await queryDatabase<{ hash: string }>(
      stack,
      'SELECT hash FROM user_passwords WHERE user_id = $1',
      [person.userId],
    );
    assert.match(stored?.hash ?? '', /^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/);
    const [rows] = await queryDatabase<{ text: string }>(
      stack,
      'SELECT json_agg(t)::text AS text FROM (SELECT * FROM sessions WHERE user_id = $1) t',
      [person.userId],
    );
    for (const part of (browser.cookie ?? '').split('.')) {
      assert.ok(part.length === 43 && !rows!.text.includes(part));
      assert.ok(!rows!.text.includes(Buffer.from(part).toString('hex')));
    }
  });

  it('of a user with more than a hundred live sessions the one that was unused for the longest time ends', async () => {
    const crowd = await createPerson(stack);
    const first = await signedIn(stack, crowd);
    await queryDatabase(
      stack,
      `INSERT INTO sessions (user_id, method, family_hash, token_hash, network, user_agent, expires_at, last_used_at)
       SELECT $1, 'password', sha256(random()::text::bytea), 'x', '', '', now() + interval '1 day', now() + interval '1 second'
       FROM generate_series(1, 99)`,
      [crowd.userId],
    );
    await queryDatabase(
      stack,
      `UPDATE sessions SET last_used_at = now() - interval '1 day' WHERE user_id = $1 AND token_hash <> 'x'`,
      [crowd.userId],
    );
    const last = await signedIn(stack, crowd);
    const ask = (session: string) => createApiClient(stack.apiUrl, { session }).get('/projects/');
    assert.deepEqual([(await ask(first.session)).status, (await ask(last.session)).status], [401, 200]);
  });
});
