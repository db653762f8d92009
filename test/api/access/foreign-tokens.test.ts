import assert from 'node:assert/strict';
import { SignJWT, type JWTPayload } from 'jose';
import { createSessionVerifier, OWN_TOKEN_TYPE } from '../../../api/access/session-tokens.js';
import type { ForeignTokenRules } from '../../../config/sign-in-settings.js';
import type { TokenSubject } from '../../../db/projects/rate-limits-repository.js';

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

describe('tokens of other services', () => {
  it('name their user by user_id, else by sub, where nothing else is set', async () => {
    assert.deepEqual(await verify({ user_id: 7, sub: '8' }), { by: 'user', userId: 7 });
    assert.deepEqual(await verify({ sub: '8', iss: 'anybody', aud: 'anything' }), { by: 'user', userId: 8 });
  });

  it('must be of JWT_ISSUER', async () => {
    const rules = { issuer: 'https://issuer.example' };
    assert.deepEqual(await verify({ sub: '8', iss: rules.issuer }, rules), { by: 'user', userId: 8 });
    for (const iss of ['https://issuer.example/', 'https://other.example', undefined]) {
      await assert.rejects(verify(iss === undefined ? { sub: '8' } : { sub: '8', iss }, rules), refused);
    }
  });

  it('must be for JWT_AUDIENCE, alone or among others', async () => {
    const rules = { audience: 'workflows' };
    for (const aud of ['workflows', ['other', 'workflows']]) {
      assert.deepEqual(await verify({ sub: '8', aud }, rules), { by: 'user', userId: 8 });
    }
    for (const claims of [{ aud: 'other' }, { aud: [] }, { aud: 'workflows,other' }, {}]) {
      await assert.rejects(verify({ sub: '8', ...claims }, rules), refused);
    }
  });

  it('name their user by an e-mail address where JWT_USER_CLAIM is set, and then by nothing else', async () => {
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

  it('are not those of our own sessions, of which nothing else is demanded', async () => {
    const sid = '6f1c0b2e-8f0f-4d0c-9d5b-1f3c2a4b5c6d';
    const rules = { issuer: 'https://issuer.example', audience: 'workflows', userClaim: 'email' };
    const session = { by: 'session', userId: 7, sessionId: sid };
    assert.deepEqual(await verify({ user_id: 7, sid }, rules, OWN_TOKEN_TYPE), session);
    await assert.rejects(verify({ user_id: 7 }, {}, OWN_TOKEN_TYPE), refused);
    assert.deepEqual(await verify({ user_id: 7, sid }), { by: 'user', userId: 7 }, 'a sid of another service');
  });
});
