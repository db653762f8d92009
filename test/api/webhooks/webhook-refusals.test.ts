import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { stackOnOwnDatabase } from '../own-database.js';
import { NOT_FOUND, type Detail, type FieldErrors } from '../bodies.js';

describe('webhooks: what is refused', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    api = owner.api;
  });

  describe('400', () => {
    const urls = [
      'http://user:secret@example.com/hook',
      'http://user@example.com/hook',
      'javascript:alert(1)',
      'ftp://example.com/hook',
      'file:///etc/passwd',
      'http://',
    ];
    for (const url of urls) {
      it(`${url} is refused as an address`, async () => {
        const body = { name: 'x', webhook_url: url };
        const answer = await api.post<FieldErrors>('/projects/', { body });
        const [why, ...others] = (answer.body as unknown as Record<string, string[]>)['webhook_url'] ?? [];
        assert.deepEqual([answer.status, Object.keys(answer.body), others], [400, ['webhook_url'], []]);
        if (url.includes('@')) assert.match(why!, /without a user name and password: .* connections\.$/);
        else assert.equal(why, 'Enter a valid URL.');
      });
    }

    it('an address that is private in any notation is refused where private networks are not allowed', async () => {
      const strict = await stackOnOwnDatabase({ ALLOW_PRIVATE_NETWORK: 'false' });
      try {
        const { api: guarded } = await createAccount(strict);
        const id = await guarded.createProject();
        const hosts = [
          '127.0.0.1:9',
          'localhost',
          'LOCALHOST.',
          '10.0.0.1',
          '169.254.169.254',
          '[::1]',
          '0x7f.1',
          '2130706433',
        ];
        for (const host of [...hosts, '[::ffff:127.0.0.1]', 'api.localhost', '100.64.0.1', '[fd00:ec2::254]']) {
          const body = { name: 'x', webhook_url: `http://${host}/hook` };
          for (const answer of [
            await guarded.post<FieldErrors>('/projects/', { body }),
            await guarded.patch<FieldErrors>(`/projects/${id}/`, { body }),
          ]) {
            assert.deepEqual(
              [answer.status, answer.body],
              [400, { webhook_url: ['The address is not public.'] }],
              host,
            );
          }
        }
        for (const url of ['https://example.com/hook', 'http://93.184.216.34/hook', '']) {
          assert.equal((await guarded.patch(`/projects/${id}/`, { body: { webhook_url: url } })).status, 200, url);
        }
      } finally {
        await strict.stop();
      }
    });

    it('a page that is none is refused', async () => {
      const id = await api.createProject();
      for (const query of ['page=0', 'page=x', 'size=0', 'size=-1']) {
        assert.equal((await api.get(`/projects/${id}/webhook-deliveries/?${query}`)).status, 400, query);
      }
    });
  });

  describe('401, 403 and 404', () => {
    it('every member reads the log; the secret is for owner and admin', async () => {
      const id = await api.createProject();
      const member = await createAccount(stack);
      const outcomes: Record<string, number[]> = {};
      for (const role of ['viewer', 'editor', 'admin'] as const) {
        await giveRole(stack, member, id, role);
        const log = await member.api.get(`/projects/${id}/webhook-deliveries/`);
        const secret = await member.api.post<Detail>(`/projects/${id}/webhook-secret/`);
        outcomes[role] = [log.status, secret.status];
      }
      assert.deepEqual(outcomes, { viewer: [200, 403], editor: [200, 403], admin: [200, 201] });
    });

    it('a stranger cannot tell a project from one that does not exist', async () => {
      const id = await api.createProject();
      const { api: stranger } = await createAccount(stack);
      for (const project of [id, 2147483647, 'abc', randomUUID()]) {
        const secret = await stranger.post(`/projects/${project}/webhook-secret/`);
        const log = await stranger.get(`/projects/${project}/webhook-deliveries/?page=x`);
        for (const { status, body } of [secret, log]) assert.deepEqual([status, body], [404, NOT_FOUND]);
      }
      const nobody = createApiClient(stack.apiUrl);
      assert.equal((await nobody.get(`/projects/${id}/webhook-deliveries/`)).status, 401);
      assert.equal((await nobody.post(`/projects/${id}/webhook-secret/`)).status, 401);
    });
  });
});
