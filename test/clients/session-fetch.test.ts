import assert from 'node:assert/strict';
import { createClient, ServiceError, unwrap, type TokenSource } from '../../clients/typescript/src/index.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';

const json = { 'content-type': 'application/json' };
const refusal = {
  status: 401,
  headers: json,
  body: { detail: 'The token has expired.', code: 'authentication_failed' },
};
const created = { status: 201, headers: json, body: { id: 7 } };

describe('the TypeScript client: the token of a session', () => {
  let target: HttpTarget;

  beforeEach(async () => {
    target = await startHttpTarget();
  });
  afterEach(() => target.close());

  const createProject = (sessionToken: TokenSource) => {
    const client = createClient({ baseUrl: target.url, sessionToken, firstDelayMs: 5, maxAttempts: 2 });
    return unwrap(client.POST('/api/v1/projects/', { body: { name: 'x' } }));
  };
  const sent = () =>
    target.requestsTo('/api/v1/projects/').map(({ headers, body }) => [headers['authorization'], body]);

  it('asks its source for the token of each request', async () => {
    target.on('/api/v1/projects/', created);
    let count = 0;
    const source: TokenSource = {
      current: () => Promise.resolve(`token ${(count += 1)}`),
      renew: () => Promise.reject(new Error('nothing was refused')),
    };
    await createProject(source);
    await createProject(source);
    assert.deepEqual(sent(), [
      ['Bearer token 1', '{"name":"x"}'],
      ['Bearer token 2', '{"name":"x"}'],
    ]);
  });

  it('sends a refused request once more with another token, its body included', async () => {
    target.on('/api/v1/projects/', [refusal, created]);
    const refused: unknown[] = [];
    const source: TokenSource = {
      current: () => Promise.resolve('old'),
      renew: (token) => {
        refused.push(token);
        return Promise.resolve('new');
      },
    };
    assert.equal((await createProject(source)).id, 7);
    assert.deepEqual(refused, ['old']);
    assert.deepEqual(sent(), [
      ['Bearer old', '{"name":"x"}'],
      ['Bearer new', '{"name":"x"}'],
    ]);
  });

  it('answers the refusal where the session has ended, and where the other token is refused, too', async () => {
    target.on('/api/v1/projects/', refusal);
    const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status === 401;
    const ended: TokenSource = { current: () => Promise.resolve('old'), renew: () => Promise.resolve(undefined) };
    await assert.rejects(createProject(ended), isRefusal);
    assert.equal(sent().length, 1);
    const useless: TokenSource = { current: () => Promise.resolve('old'), renew: () => Promise.resolve('new') };
    await assert.rejects(createProject(useless), isRefusal);
    assert.equal(sent().length, 3);
  });

  it('sends no token where there is no session', async () => {
    target.on('/api/v1/projects/', created);
    const none: TokenSource = { current: () => Promise.resolve(undefined), renew: () => Promise.resolve(undefined) };
    await createProject(none);
    assert.deepEqual(sent(), [[undefined, '{"name":"x"}']]);
  });
});
