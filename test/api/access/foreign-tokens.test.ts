import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { createSessionVerifier, OWN_TOKEN_TYPE } from '../../../api/access/session-tokens.js';
import { startHttpServer, type HttpServer } from '../../../cli/sandbox/http-server.js';
import type { ForeignTokenRules } from '../../../config/sign-in-settings.js';
import type { TokenSubject } from '../../../db/access/rate-limits-repository.js';

const SECRET = 'x'.repeat(40);
const NONE: ForeignTokenRules = { issuer: undefined, audience: undefined, userClaim: undefined };

function verify(claims: JWTPayload, rules: Partial<ForeignTokenRules> = {}, typ = 'JWT'): Promise<TokenSubject> {
  const verifier = createSessionVerifier({
    jwtSecret: SECRET,
    jwtJwksUrl: undefined,
    foreignTokens: { ...NONE, ...rules },
  });
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET))
    .then(verifier);
}

const refused = { name: 'ApiError', status: 401 };

describe('tokens of other issuers', () => {
  it('name their user by user_id, else by sub, if JWT_USER_CLAIM is not set', async () => {
    assert.deepEqual(await verify({ user_id: 7, sub: '8' }), { by: 'user', userId: 7 });
    assert.deepEqual(await verify({ sub: '8', iss: 'anybody', aud: 'anything' }), { by: 'user', userId: 8 });
  });

  it('must be issued by JWT_ISSUER', async () => {
    const rules = { issuer: 'https://issuer.example' };
    assert.deepEqual(await verify({ sub: '8', iss: rules.issuer }, rules), { by: 'user', userId: 8 });
    for (const iss of ['https://issuer.example/', 'https://other.example', undefined]) {
      await assert.rejects(verify(iss === undefined ? { sub: '8' } : { sub: '8', iss }, rules), refused);
    }
  });

  it('must have the audience JWT_AUDIENCE, alone or among others', async () => {
    const rules = { audience: 'workflows' };
    for (const aud of ['workflows', ['other', 'workflows']]) {
      assert.deepEqual(await verify({ sub: '8', aud }, rules), { by: 'user', userId: 8 });
    }
    for (const claims of [{ aud: 'other' }, { aud: [] }, { aud: 'workflows,other' }, {}]) {
      await assert.rejects(verify({ sub: '8', ...claims }, rules), refused);
    }
  });

  it('name their user only by a verified e-mail address if JWT_USER_CLAIM is set', async () => {
    const rules = { userClaim: 'email' };
    const verified = { email: 'a@example.com', email_verified: true };
    assert.deepEqual(await verify(verified, rules), { by: 'email', email: 'a@example.com' });
    const unusable: JWTPayload[] = [
      { user_id: 1, sub: '1' },
      { email: 1, email_verified: true },
      { email: '1' },
      { email: ['a@example.com'] },
      { email: 'a\0@example.com' },
      { email: `${'x'.repeat(400)}@example.com` },
      { email: 'a@example.com', email_verified: false },
      { email: 'a@example.com', email_verified: 'true' },
      { email: 'a@example.com' },
    ];
    for (const claims of unusable) await assert.rejects(verify(claims, rules), refused, JSON.stringify(claims));
  });

  it('have rules that do not apply to tokens of our own sessions', async () => {
    const sid = '6f1c0b2e-8f0f-4d0c-9d5b-1f3c2a4b5c6d';
    const rules = { issuer: 'https://issuer.example', audience: 'workflows', userClaim: 'email' };
    const session = { by: 'session', userId: 7, sessionId: sid };
    assert.deepEqual(await verify({ user_id: 7, sid }, rules, OWN_TOKEN_TYPE), session);
    await assert.rejects(verify({ user_id: 7 }, {}, OWN_TOKEN_TYPE), refused);
    assert.deepEqual(await verify({ user_id: 7, sid }), { by: 'user', userId: 7 }, 'a sid of another service');
  });
});

describe('the key set of an issuer', () => {
  const LIMITS = { timeoutMs: 60_000, keptMs: 600_000, againMs: 30_000 };
  const realNow = Date.now;
  let published: JWK;
  let privateKey: CryptoKey;
  let issuer: HttpServer;
  let answer: (response: ServerResponse) => void;
  let asked = 0;

  before(async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    ({ privateKey } = pair);
    published = { ...(await exportJWK(pair.publicKey)), kid: 'known', alg: 'ES256' };
    issuer = await startHttpServer((_request, response) => {
      asked += 1;
      answer(response);
    });
  });
  beforeEach(() => {
    asked = 0;
    answer = (response) => void response.end(JSON.stringify({ keys: [published] }));
  });
  afterEach(() => (Date.now = realNow));
  after(() => issuer.close());

  const verifierWith = (limits: Partial<typeof LIMITS> = {}) =>
    createSessionVerifier(
      { jwtSecret: undefined, jwtJwksUrl: `${issuer.url}/jwks.json`, foreignTokens: NONE },
      { ...LIMITS, ...limits },
    );
  const tokenOf = (kid: string): Promise<string> =>
    new SignJWT({ sub: '8' }).setProtectedHeader({ alg: 'ES256', kid }).setExpirationTime('2h').sign(privateKey);
  const unknown = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, (_, at) => tokenOf(`unknown-${at}`)));
  const moveClock = (aheadMs: number): void => {
    Date.now = () => realNow() + aheadMs;
  };

  it('is fetched again at most once in thirty seconds, however many tokens name unknown keys', async () => {
    const verifier = verifierWith();
    const subject = { by: 'user', userId: 8 };
    assert.deepEqual(await verifier(await tokenOf('known')), subject);
    for (const token of await unknown(20)) await assert.rejects(verifier(token), refused);
    assert.equal(asked, 1);
    for (const [round, aheadMs] of [31_000, 62_000].entries()) {
      moveClock(aheadMs);
      const tokens = await unknown(20);
      await Promise.all(tokens.slice(0, 10).map((token) => assert.rejects(verifier(token), refused)));
      for (const token of tokens.slice(10)) await assert.rejects(verifier(token), refused);
      assert.equal(asked, 2 + round);
    }
    assert.deepEqual(await verifier(await tokenOf('known')), subject);
  });

  it('is not fetched more often while the issuer fails, and no token is refused because of the failure', async () => {
    const verifier = verifierWith();
    await verifier(await tokenOf('known'));
    const failures: ((response: ServerResponse) => void)[] = [
      (response) => void response.writeHead(503).end(),
      (response) => void response.end('<html>'),
      (response) => void response.destroy(),
    ];
    for (const [at, failure] of failures.entries()) {
      answer = failure;
      moveClock((at + 1) * 31_000);
      for (const token of await unknown(10)) {
        await assert.rejects(verifier(token), (error: { status?: number }) => error.status === undefined);
      }
      assert.equal(asked, 2 + at);
    }
    assert.deepEqual(await verifier(await tokenOf('known')), { by: 'user', userId: 8 }, 'the kept key counts');
  });

  it('is fetched with a time limit, for the headers and for the body of the response', async () => {
    const hanging: ((response: ServerResponse) => void)[] = [
      () => undefined,
      (response) => void response.writeHead(200).write('{"keys":'),
    ];
    const token = await tokenOf('known');
    for (const hang of hanging) {
      answer = hang;
      await assert.rejects(verifierWith({ timeoutMs: 200 })(token), { code: 'ERR_JWKS_TIMEOUT' });
    }
  });

  it('is refused if it is larger than 256 KiB', async () => {
    const text = JSON.stringify({ keys: [published] });
    const token = await tokenOf('known');
    answer = (response) => void response.end(text.padEnd(256 * 1024));
    assert.deepEqual(await verifierWith()(token), { by: 'user', userId: 8 });
    answer = (response) => void response.end(text.padEnd(256 * 1024 + 1));
    await assert.rejects(verifierWith()(token), /is larger than 262144 bytes/);
    // The service stops reading a response that never ends.
    answer = (response) => {
      const say = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, ' ')));
      };
      response.on('drain', say);
      say();
    };
    await assert.rejects(verifierWith()(token), /is larger than 262144 bytes/);
  });
});
