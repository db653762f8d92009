import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { createSessionVerifier } from '../../api/access/session-tokens.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { Browser, signedIn } from '../api/sessions/people.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');

interface User {
  id: number;
  name: string;
  email: string | null;
  api_access: boolean;
  is_admin: boolean;
  is_active: boolean;
}

describe('npm run admin: users and how they sign in', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  async function execute(args: string[], input = '', env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [ADMIN, ...args], {
      env: { PATH: process.env['PATH'], DATA_DIR: stack.dataDir, ...env },
    });
    child.stdin.on('error', () => undefined).end(input);
    const exited = once(child, 'exit') as Promise<[number]>;
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { out, errors: errors.trim(), code };
  }

  async function admin<T>(args: string[], input?: string, env?: Record<string, string>): Promise<T> {
    const { out, errors, code } = await execute(args, input, env);
    assert.deepEqual([errors, code], ['', 0]);
    return JSON.parse(out) as T;
  }

  async function refusal(args: string[], input?: string, env?: Record<string, string>): Promise<string> {
    const { out, errors, code } = await execute(args, input, env);
    assert.deepEqual([out, code], ['', 1]);
    return errors;
  }

  const newEmail = (): string => `Grace.${randomUUID()}@example.com`;
  const createWith = (email: string, ...more: string[]): string[] => [
    'user',
    'create',
    '--name',
    'Grace',
    '--email',
    email,
    ...more,
  ];

  it('makes a user who signs in by the password from standard input', async () => {
    const email = newEmail();
    const user = await admin<User>(
      createWith(email, '--password-stdin', '--admin', '--no-api-access'),
      'pass word of Grace\n',
    );
    assert.deepEqual(user, { id: user.id, name: 'Grace', email, api_access: false, is_admin: true, is_active: true });
    const { status, body } = await new Browser(stack.apiUrl).logIn({ email, password: 'pass word of Grace' });
    const { is_active: _, ...shown } = user;
    assert.deepEqual([status, body.user], [200, shown]);
  });

  it('a user with an address and no password cannot sign in by one', async () => {
    const email = newEmail();
    await admin<User>(createWith(email));
    assert.equal((await new Browser(stack.apiUrl).logIn({ email, password: 'pass word of Grace' })).status, 401);
  });

  it('a new password replaces the old one and ends sessions and links', async () => {
    const email = newEmail();
    const { id } = await admin<User>(createWith(email, '--password-stdin'), 'old password');
    const { browser, session } = await signedIn(stack, { userId: id, email, password: 'old password' });
    const { url } = await admin<{ url: string }>(['console-link', '--user', String(id)]);
    await admin(['user', 'set-password', '--id', String(id), '--password-stdin'], 'new password\r\n');
    assert.equal((await createApiClient(stack.apiUrl, { session }).get('/projects/')).status, 401);
    assert.equal((await browser.refresh()).status, 401);
    const token = new URL(url).hash.slice('#token='.length);
    assert.equal((await browser.post('link/', { token })).status, 401);
    assert.equal((await new Browser(stack.apiUrl).logIn({ email, password: 'old password' })).status, 401);
    assert.equal((await new Browser(stack.apiUrl).logIn({ email, password: 'new password' })).status, 200);
  });

  it('lists users, and nothing of their passwords', async () => {
    const email = newEmail();
    const user = await admin<User>(createWith(email, '--password-stdin'), 'pass word of Grace');
    const users = await admin<(User & { created_at: string })[]>(['user', 'list']);
    const { created_at: createdAt, ...listed } = users.find(({ id }) => id === user.id)!;
    assert.deepEqual(listed, user);
    assert.ok(!Number.isNaN(Date.parse(createdAt)));
    assert.ok(!JSON.stringify(users).includes('scrypt'));
  });

  it('prints a link that signs the local user in, once', async () => {
    const { url } = await admin<{ url: string }>(['console-link']);
    const { origin, pathname, hash } = new URL(url);
    assert.deepEqual([origin, pathname], [stack.apiUrl, '/']);
    const token = /^#token=([\w-]{43})$/.exec(hash)?.[1];
    const browser = new Browser(stack.apiUrl);
    const { status, body } = await browser.post('link/', { token });
    assert.deepEqual([status, body.user.id], [200, stack.stack.user_id]);
    assert.equal((await browser.post('link/', { token })).status, 401);
    const { url: elsewhere } = await admin<{ url: string }>(['console-link'], '', { PUBLIC_URL: 'https://w.example/' });
    assert.match(elsewhere, /^https:\/\/w\.example\/#token=[\w-]{43}$/);
  });

  it('prints a link beside the key set of another issuer, too', async () => {
    const env = { JWT_JWKS_URL: 'https://issuer.example/keys', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' };
    assert.match((await admin<{ url: string }>(['console-link'], '', env)).url, /#token=[\w-]{43}$/);
  });

  it('issues tokens that say what JWT_ISSUER, JWT_AUDIENCE and JWT_USER_CLAIM demand', async () => {
    const email = newEmail();
    const { id } = await admin<User>(createWith(email));
    const env = { JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'workflows', JWT_USER_CLAIM: 'mail' };
    const { token } = await admin<{ token: string }>(['jwt', 'issue', '--user', String(id)], '', env);
    const { iss, aud, mail, email_verified: isVerified, user_id: userId } = decodeJwt(token);
    const said = [iss, aud, mail, isVerified, userId];
    assert.deepEqual(said, ['https://issuer.example', 'workflows', email, true, id]);
    const { id: bare } = await admin<User>(['user', 'create', '--name', 'Bare']);
    assert.match(await refusal(['jwt', 'issue', '--user', String(bare)], '', env), /^JWT_USER_CLAIM: /);
  });

  it('issues tokens whose claim the API compares with e-mail addresses, even if the claim is sub', async () => {
    const email = newEmail();
    const { id } = await admin<User>(createWith(email));
    for (const userClaim of ['mail', 'sub', 'user_id']) {
      const jwtSecret = 'a secret of thirty-two characters';
      const env = { JWT_SECRET: jwtSecret, JWT_USER_CLAIM: userClaim };
      const { token } = await admin<{ token: string }>(['jwt', 'issue', '--user', String(id)], '', env);
      const foreignTokens = { issuer: undefined, audience: undefined, userClaim };
      const verify = createSessionVerifier({ jwtSecret, jwtJwksUrl: undefined, foreignTokens });
      assert.deepEqual(await verify(token), { by: 'email', email }, userClaim);
    }
  });

  it('says what is wrong on standard error, and never the password', async () => {
    const email = newEmail();
    await admin(createWith(email));
    const taken = await refusal(createWith(email.toUpperCase()));
    assert.equal(taken, '--email: another user has this address.');
    for (const wrong of ['', 'grace', 'a b@example.com', `${'x'.repeat(320)}@example.com`]) {
      assert.equal(await refusal(createWith(wrong)), '--email: must be an e-mail address.');
    }
    const short = await refusal(createWith(newEmail(), '--password-stdin'), 'hunter2');
    assert.equal(short, 'A password has at least 12 characters.');
    const common = await refusal(createWith(newEmail(), '--password-stdin'), 'Qwerty123456');
    assert.match(common, /^This password is one of the most common ones/);
    assert.match(await refusal(createWith(newEmail(), '--password-stdin'), 'x'.repeat(20_000)), /too long/);
    assert.match(
      await refusal(['user', 'create', '--name', 'A', '--password-stdin'], 'pass word of Grace'),
      /^--email: /,
    );
    const set = (id: number) => ['user', 'set-password', '--id', String(id), '--password-stdin'];
    assert.equal(await refusal(set(999_999), 'pass word of Grace'), 'There is no user 999999.');
    const { id } = await admin<User>(['user', 'create', '--name', 'Bare']);
    assert.match(await refusal(set(id), 'pass word of Grace'), /has no e-mail address/);
    assert.match(await refusal(['user', 'set-password', '--id', String(id)]), /--password-stdin/);
    assert.equal(await refusal(['console-link', '--user', '999999']), 'There is no user 999999.');
    const foreign = { JWT_JWKS_URL: 'https://issuer.example/keys' };
    assert.equal(await refusal(['user', 'list'], '', foreign), 'JWT_ISSUER: must be set together with JWT_JWKS_URL.');
  });
});
