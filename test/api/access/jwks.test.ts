// Session tokens of an issuer that publishes its keys, tested on an API process with JWT_JWKS_URL.
import assert from 'node:assert/strict';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
} from 'jose';
import { startHttpServer } from '../../../cli/sandbox/http-server.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, openSession, type Account } from '../accounts.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { Browser, createLink, createPerson } from '../sessions/people.js';

const [ISSUER, AUDIENCE] = ['https://issuer.example', 'workflows'];

describe('session tokens of a published key set', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiProcess;
  /** An API process that has JWT_SECRET as well as JWT_JWKS_URL. */
  let both: ApiProcess;
  let issuer: { url: string; close: () => Promise<void> };
  let isIssuerDown = true;
  const published: JWK[] = [];
  const keys: Record<string, { privateKey: CryptoKey; publicKey: CryptoKey }> = {};

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    for (const alg of ['RS256', 'ES256', 'PS256', 'ES384']) {
      const pair = await generateKeyPair(alg, { extractable: true });
      keys[alg] = pair;
      // The two algorithms that the service does not accept are published too, so that the service has to refuse them.
      published.push({ ...(await exportJWK(pair.publicKey)), kid: alg, use: 'sig' });
    }
    issuer = await startHttpServer((_request, response) => {
      response.writeHead(isIssuerDown ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ keys: published }));
    });
    const rules = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
    const env = { ...rules, JWT_JWKS_URL: `${issuer.url}/jwks.json` };
    [api, both] = await Promise.all([startApiProcess(stack, { ...env, JWT_SECRET: '' }), startApiProcess(stack, env)]);
  });
  after(async () => {
    assert.deepEqual(await Promise.all([api.stop(), both.stop()]), [0, 0]);
    await issuer.close();
  });

  const tokenOf = (claims: JWTPayload): SignJWT =>
    new SignJWT({ user_id: account.userId, iss: ISSUER, aud: AUDIENCE, ...claims }).setExpirationTime('1h');
  const sign = (alg: string, key: CryptoKey | Uint8Array, kid = alg): Promise<string> =>
    tokenOf({}).setProtectedHeader({ alg, kid }).sign(key);
  const ask = async (token: string): Promise<number> =>
    (await createApiClient(api.apiUrl, { session: token }).get('/projects/')).status;

  it('a good token is a 500 and not a 401 while the keys cannot be fetched, and is accepted afterwards', async () => {
    const token = await sign('RS256', keys['RS256']!.privateKey);
    assert.equal(await ask(token), 500);
    assert.equal((await createApiClient(api.apiUrl, account.apiKey).get('/projects/')).status, 200);
    isIssuerDown = false;
    assert.equal(await ask(token), 200);
  });

  it('RS256 and ES256 are accepted, and no other algorithm, even with a published key', async () => {
    const statuses: Record<string, number> = {};
    for (const [alg, { privateKey }] of Object.entries(keys)) statuses[alg] = await ask(await sign(alg, privateKey));
    assert.deepEqual(statuses, { RS256: 200, ES256: 200, PS256: 401, ES384: 401 });
  });

  it('a public key is not accepted as an HMAC secret', async () => {
    const pem = new TextEncoder().encode(await exportSPKI(keys['RS256']!.publicKey));
    assert.equal(await ask(await sign('HS256', pem, 'RS256')), 401);
    const jwk = new TextEncoder().encode(JSON.stringify(published[0]));
    assert.equal(await ask(await sign('HS256', jwk, 'RS256')), 401);
  });

  it('an unpublished key, a foreign key under a published id and a secret that is not set are refused', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    assert.equal(await ask(await sign('RS256', privateKey, 'unknown')), 401);
    assert.equal(await ask(await sign('RS256', privateKey)), 401);
    assert.equal(await ask((await openSession(stack, account)).session), 401);
  });

  it('a key, a key set or a certificate that a token contains or names is neither used nor fetched', async () => {
    let fetches = 0;
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'own' };
    const own = await startHttpServer((_request, response) => {
      fetches += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }));
    });
    try {
      const headers: JWTHeaderParameters[] = [
        { alg: 'RS256', jwk },
        { alg: 'RS256', kid: 'own', jku: `${own.url}/jwks.json` },
        { alg: 'RS256', kid: 'RS256', jku: `${own.url}/jwks.json`, x5u: `${own.url}/cert.pem` },
        { alg: 'RS256', kid: `${own.url}/jwks.json` },
        { alg: 'RS256', kid: '../../../../dev/null' },
        { alg: 'RS256', kid: "RS256' OR '1'='1" },
        { alg: 'RS256', kid: '__proto__' },
      ];
      for (const header of headers) {
        const token = tokenOf({}).setProtectedHeader(header);
        assert.equal(await ask(await token.sign(privateKey)), 401, JSON.stringify(header));
      }
      assert.equal(fetches, 0);
    } finally {
      await own.close();
    }
  });

  it('without JWT_SECRET and JWT_JWKS_URL every token is refused, and keys work', async () => {
    const none = await startApiProcess(stack, { JWT_SECRET: '' });
    try {
      const session = await openSession(stack, account);
      assert.equal((await createApiClient(none.apiUrl, session).get('/projects/')).status, 401);
      assert.equal((await createApiClient(none.apiUrl, account.apiKey).get('/projects/')).status, 200);
    } finally {
      assert.equal(await none.stop(), 0);
    }
  });

  it('issuer and audience are checked: a token for another service of the issuer is refused', async () => {
    const { privateKey } = keys['RS256']!;
    for (const claims of [{ iss: 'https://other.example' }, { aud: 'other' }, { iss: undefined }, { aud: undefined }]) {
      const token = await tokenOf(claims as JWTPayload)
        .setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
        .sign(privateKey);
      assert.equal(await ask(token), 401, JSON.stringify(claims));
    }
    for (const missing of ['JWT_ISSUER', 'JWT_AUDIENCE']) {
      const env = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_JWKS_URL: issuer.url, [missing]: '' };
      await assert.rejects(
        startApiProcess(stack, env),
        new RegExp(`${missing}: must be set together with JWT_JWKS_URL`),
      );
    }
  });

  describe('together with JWT_SECRET', () => {
    const askBoth = async (token: string): Promise<number> =>
      (await createApiClient(both.apiUrl, { session: token }).get('/projects/')).status;
    const secret = (): Uint8Array => new TextEncoder().encode(readSecrets(stack.dataDir)!.JWT_SECRET);

    it('tokens of both sources are accepted, each verified by its own key alone', async () => {
      assert.equal(await askBoth(await sign('RS256', keys['RS256']!.privateKey)), 200);
      assert.equal(await askBoth(await sign('ES256', keys['ES256']!.privateKey)), 200);
      assert.equal(await askBoth(await sign('HS256', secret())), 200);
      const { session: withoutIssuer } = await openSession(stack, account);
      assert.equal(await askBoth(withoutIssuer), 401, 'the secret signs foreign tokens by the same rules');
      const pem = new TextEncoder().encode(await exportSPKI(keys['RS256']!.publicKey));
      assert.equal(await askBoth(await sign('HS256', pem, 'RS256')), 401, 'a public key is no HMAC secret');
      const [, body, signature] = (await sign('HS256', secret())).split('.');
      for (const alg of ['RS256', 'none', 'HS512']) {
        const header = Buffer.from(JSON.stringify({ alg, kid: 'RS256' })).toString('base64url');
        assert.equal(await askBoth(`${header}.${body}.${signature}`), 401, alg);
      }
      for (const text of ['', 'x', 'a.b.c', '..', `${'e'.repeat(9_000)}.a.b`]) assert.equal(await askBoth(text), 401);
    });

    it('a token signed by the key set is never one of our own sessions', async () => {
      const own = tokenOf({ sid: '6f1c0b2e-8f0f-4d0c-9d5b-1f3c2a4b5c6d', iss: 'https://other.example' });
      const token = own.setProtectedHeader({ alg: 'RS256', kid: 'RS256', typ: 'session+jwt' });
      assert.equal(await askBoth(await token.sign(keys['RS256']!.privateKey)), 401);
    });

    it('people sign in by password and by link', async () => {
      const person = await createPerson(stack);
      const browser = new Browser(both.apiUrl);
      const { status, body } = await browser.logIn(person);
      assert.deepEqual([status, await askBoth(body.access_token)], [200, 200]);
      const token = await createLink(stack, person.userId);
      assert.equal((await new Browser(both.apiUrl).post('link/', { token })).status, 200);
    });
  });
});
