import assert from 'node:assert/strict';
import { SignJWT, type JWTPayload } from 'jose';
import { routes } from '../../../api/app.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, openSession, revokeAccess, sessionOf, type Account } from '../accounts.js';
import type { Detail } from '../bodies.js';

const HOUR_SECONDS = 3600;
const REFUSED: Detail = { detail: 'Invalid or expired token.', code: 'authentication_failed' };

describe('session tokens', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let secret: string;
  let internalToken: string;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    const secrets = readSecrets(stack.dataDir)!;
    ({ JWT_SECRET: secret, INTERNAL_SERVICE_TOKEN: internalToken } = secrets);
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  const sign = (claims: JWTPayload, { alg = 'HS256', key = secret } = {}): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key));
  const valid = (): JWTPayload => ({ user_id: account.userId, exp: now() + HOUR_SECONDS });
  const ask = (token: string): Promise<ApiAnswer<Detail>> =>
    createApiClient(stack.apiUrl, { session: token }).get<Detail>('/projects/');

  describe('200', () => {
    const forms: [title: string, claims: (id: number) => JWTPayload][] = [
      ['user_id, a number', (id) => ({ user_id: id })],
      ['user_id, digits', (id) => ({ user_id: String(id) })],
      ['sub', (id) => ({ sub: String(id) })],
      ['user_id, where sub says something else', (id) => ({ user_id: id, sub: 'auth0|4711' })],
    ];
    for (const [title, claims] of forms) {
      it(`the user is named by ${title}`, async () => {
        const { status } = await ask(await sign({ ...claims(account.userId), exp: now() + HOUR_SECONDS }));
        assert.equal(status, 200);
      });
    }

    it('a clock that is a few seconds wrong does no harm', async () => {
      assert.equal((await ask(await sign({ ...valid(), exp: now() - 2 }))).status, 200);
      assert.equal((await ask(await sign({ ...valid(), nbf: now() + 2 }))).status, 200);
    });

    it('a session sees what its user sees, on every kind of endpoint', async () => {
      const id = await account.api.createProject('seen by both');
      const session = createApiClient(stack.apiUrl, await openSession(stack, account));
      assert.deepEqual((await session.get(`/projects/${id}/`)).body, (await account.api.get(`/projects/${id}/`)).body);
      assert.equal((await session.patch(`/projects/${id}/`, { body: { name: 'renamed' } })).status, 200);
      assert.equal((await session.delete(`/projects/${id}/`)).status, 204);
      assert.equal((await account.api.get(`/projects/${id}/`)).status, 404);
    });

    it('a session is not limited like a key, and not counted with the keys of its user', async () => {
      const limited = await createAccount(stack, 1);
      const session = createApiClient(stack.apiUrl, await openSession(stack, limited));
      for (let count = 0; count < 65; count += 1) assert.equal((await session.get('/projects/?size=0')).status, 200);
      assert.equal((await limited.api.get('/projects/')).headers.get('x-ratelimit-remaining'), '0');
    });
  });

  describe('401', () => {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const tampered = async (): Promise<string> => {
      const [header, , signature] = (await sign(valid())).split('.');
      return `${header}.${encode({ user_id: 1, exp: now() + HOUR_SECONDS })}.${signature}`;
    };
    const wrong: [title: string, token: () => Promise<string> | string][] = [
      ['that has expired', () => sign({ ...valid(), exp: now() - 60 })],
      ['without an end', () => sign({ user_id: account.userId })],
      ['whose end is no number', () => sign({ ...valid(), exp: 'never' as unknown as number })],
      ['that is not valid yet', () => sign({ ...valid(), nbf: now() + 60 })],
      ['of another secret', () => sign(valid(), { key: 'x'.repeat(64) })],
      ['of the right secret and another algorithm', () => sign(valid(), { alg: 'HS512' })],
      ['without a signature', () => `${encode({ alg: 'none' })}.${encode(valid())}.`],
      ['whose claims were changed', tampered],
      [
        'that claims RS256',
        async () => `${encode({ alg: 'RS256' })}.${(await sign(valid())).split('.').slice(1).join('.')}`,
      ],
      ['without a user', () => sign({ exp: now() + HOUR_SECONDS })],
      ['of a user that does not exist', () => sign({ ...valid(), user_id: 2_147_483_647 })],
      ['of a user beyond all ids', () => sign({ ...valid(), user_id: '99999999999' })],
      ['of a user with a fraction', () => sign({ ...valid(), user_id: 1.5 })],
      ['of a user that is a list', () => sign({ ...valid(), user_id: [1] })],
      ['whose sub is no id here', () => sign({ sub: 'auth0|4711', exp: now() + HOUR_SECONDS })],
      ['that is empty', () => ''],
      ['that is an API key', () => account.apiKey],
      ['that is the internal service token', () => internalToken],
      ['that is garbage', () => 'a.b.c'],
      ['of two words', async () => `${await sign(valid())} ${await sign(valid())}`],
    ];
    for (const [title, token] of wrong) {
      it(`a token ${title} is refused`, async () => {
        const { status, body, headers } = await ask(await token());
        assert.deepEqual([status, body], [401, REFUSED]);
        assert.match(headers.get('www-authenticate') ?? '', /^Bearer /);
      });
    }
  });

  describe('access to the API', () => {
    it('is needed for keys only: without it a user can still sign in, and their keys get a 403', async () => {
      const revoked = await createAccount(stack);
      const session = await sessionOf(stack, revoked);
      await revokeAccess(stack, revoked);
      assert.equal((await session.get('/projects/')).status, 200);
      const { body: me } = await session.get<{ id: number; api_access: boolean }>('/me/');
      assert.deepEqual([me.id, me.api_access], [revoked.userId, false]);
      const { status, body } = await revoked.api.get<Detail>('/projects/');
      assert.deepEqual([status, body.code], [403, 'permission_denied']);
    });
  });

  describe('routes for sessions only', () => {
    const closed = routes.filter(({ auth }) => auth === 'session');

    it('there are some', () => {
      assert.ok(closed.length >= 4);
    });

    for (const { method, path, isForAdministrators } of closed) {
      const askWith = (headers: Record<string, string>): Promise<Response> =>
        fetch(`${stack.apiUrl}${path.replaceAll(/:\w+/g, '2147483647')}`, { method, headers });

      it(`${method} ${path} refuses a key, valid or not, and does not count it`, async () => {
        for (const key of [account.apiKey, 'no key of ours']) {
          const answer = await askWith({ 'x-api-key': key });
          const refused = { detail: 'This needs a session; an API key is not enough.', code: 'permission_denied' };
          assert.deepEqual([answer.status, await answer.json()], [403, refused]);
          assert.equal(answer.headers.get('x-ratelimit-limit'), null);
        }
      });

      it(`${method} ${path} accepts a session, also together with a key, and refuses a key as a token`, async () => {
        const { session } = await openSession(stack, account);
        const answer = await askWith({ authorization: `Bearer ${session}`, 'x-api-key': account.apiKey });
        const isForOthers = isForAdministrators === true;
        assert.ok(isForOthers ? answer.status === 403 : ![401, 403].includes(answer.status), String(answer.status));
        assert.equal((await askWith({ authorization: `Bearer ${account.apiKey}` })).status, 401);
      });
    }
  });

  describe('together with a key', () => {
    let session: string;
    before(async () => ({ session } = await openSession(stack, account)));
    const askWith = (authorization: string, apiKey = account.apiKey): Promise<ApiAnswer<Detail>> =>
      nobody().get<Detail>('/projects/', { headers: { authorization, 'x-api-key': apiKey } });
    const nobody = (): ApiClient => createApiClient(stack.apiUrl);

    it('the token must be valid, even if the key is', async () => {
      const { status, body } = await askWith('Bearer nonsense');
      assert.deepEqual([status, body], [401, REFUSED]);
    });

    it('a valid token is enough, and the key is not counted', async () => {
      const leftOfKey = async (): Promise<number> =>
        Number((await account.api.get('/projects/')).headers.get('x-ratelimit-remaining'));
      const before = await leftOfKey();
      assert.equal((await askWith(`Bearer ${session}`)).status, 200);
      assert.equal(await leftOfKey(), before - 1);
      assert.equal((await askWith(`bearer  ${session}`, 'no key of ours')).status, 200);
    });

    it('another scheme in the Authorization header is ignored', async () => {
      const { status, headers } = await askWith('Basic dXNlcjpwYXNz');
      assert.deepEqual([status, headers.get('x-ratelimit-limit')], [200, '1000000']);
    });
  });
});
