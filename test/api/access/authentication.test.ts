import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { routes } from '../../../api/app.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, removeKey, type Account } from '../accounts.js';
import type { Detail } from '../bodies.js';

const NOT_AUTHENTICATED: Detail = {
  detail: 'Authentication credentials were not provided.',
  code: 'not_authenticated',
};

describe('authentication', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
  });

  /** Sends header names in the given case, which `fetch` would change to lower case. */
  async function askRaw(headers: Record<string, string | string[]>): Promise<{ status: number; body: Detail }> {
    const asking = request(`${stack.apiUrl}/api/v1/projects/?size=0`, { headers }).end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, body: (await json(answer)) as Detail };
  }

  describe('200', () => {
    it('the key is taken from X-Api-Key, in any case of the header name', async () => {
      for (const name of ['X-Api-Key', 'X-API-Key', 'x-api-key', 'X-API-KEY', 'x-Api-kEY']) {
        assert.equal((await askRaw({ [name]: account.apiKey })).status, 200, name);
      }
      assert.equal((await askRaw({ 'X-Api-Key': `  ${account.apiKey} ` })).status, 200);
    });

    it('a user may hold several keys, and deleting one leaves the others', async () => {
      const other = await createAccount(stack);
      const move = 'UPDATE api_keys SET user_id = $2 WHERE id = $1';
      await queryDatabase(stack, move, [other.keyId, account.userId]);
      const project = await account.api.createProject();
      assert.equal((await other.api.get(`/projects/${project}/`)).status, 200);
      await removeKey(stack, other);
      assert.equal((await other.api.get(`/projects/${project}/`)).status, 401);
      assert.equal((await account.api.get(`/projects/${project}/`)).status, 200);
    });
  });

  describe('401', () => {
    for (const { method, path } of routes.filter(
      (route) => route.path.startsWith('/api/') && route.auth !== 'open' && route.auth !== 'optional',
    )) {
      it(`${method} ${path} asks for credentials`, async () => {
        const response = await fetch(`${stack.apiUrl}${path.replaceAll(/:\w+/g, '1')}`, { method });
        assert.deepEqual([response.status, await response.json()], [401, NOT_AUTHENTICATED]);
        assert.match(response.headers.get('www-authenticate') ?? '', /realm="api"/);
      });
    }

    it('workflow_result without credentials is a 401, even without an id', async () => {
      const nobody = createApiClient(stack.apiUrl);
      for (const query of ['?id=00000000-0000-4000-8000-000000000000', '']) {
        const { status, body } = await nobody.get(`/workflows/workflow_result/${query}`);
        assert.deepEqual([status, body], [401, NOT_AUTHENTICATED]);
      }
    });

    const wrong: [title: string, key: () => string | string[]][] = [
      ['unknown', () => `wfa_${'x'.repeat(43)}`],
      ['cut short', () => account.apiKey.slice(0, -1)],
      ['in capitals', () => account.apiKey.toUpperCase()],
      ['sent twice', () => [account.apiKey, account.apiKey]],
      ['of 10 kB', () => 'x'.repeat(10_000)],
      ['a piece of SQL', () => "' OR 1=1 --"],
      ['beyond ASCII', () => 'k\u00e9y\u00ff'],
    ];
    for (const [title, key] of wrong) {
      it(`a key that is ${title} is refused`, async () => {
        const { status, body } = await askRaw({ 'X-Api-Key': key() });
        assert.deepEqual([status, body], [401, { detail: 'Invalid API key.', code: 'authentication_failed' }]);
      });
    }

    it('an empty key counts as no key', async () => {
      for (const key of ['', '   ']) {
        assert.deepEqual(await askRaw({ 'X-Api-Key': key }), { status: 401, body: NOT_AUTHENTICATED });
      }
    });

    it('a key in the Authorization header is accepted by the chat proxy only', async () => {
      assert.equal((await askRaw({ Authorization: `Bearer ${account.apiKey}` })).status, 401);
    });
  });
});
