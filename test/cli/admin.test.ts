import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { AdminError, withContext, type AdminContext } from '../../cli/admin/context.js';
import { readOrCreateSecrets } from '../../cli/embedded/secrets-file.js';
import { removeStackFile, writeStackFile } from '../../cli/embedded/stack-file.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');

describe('npm run admin', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  /** Runs the command. Returns the one JSON document on standard output. */
  async function admin<T>(...args: string[]): Promise<T> {
    const env = { PATH: process.env['PATH'], DATA_DIR: stack.dataDir };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [ADMIN, ...args], { env });
    assert.equal(stderr, '');
    return JSON.parse(stdout) as T;
  }

  async function refusal(...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], DATA_DIR: stack.dataDir };
    const failure = await promisify(execFile)(process.execPath, [ADMIN, ...args], { env }).then(
      () => assert.fail('the command should have failed'),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    assert.equal(failure.code, 1);
    assert.equal(failure.stdout, '');
    return failure.stderr.trim();
  }

  async function createUser(): Promise<number> {
    return (await admin<{ id: number }>('user', 'create', '--name', 'Grace')).id;
  }

  it('makes a user with a key that works until it is deleted', async () => {
    const user = await admin<{ id: number }>('user', 'create', '--name', 'Ada');
    assert.deepEqual(user, {
      id: user.id,
      name: 'Ada',
      email: null,
      api_access: true,
      is_admin: false,
      is_active: true,
    });
    const key = await admin<{ id: number; api_key: string }>(
      'key',
      'create',
      '--user',
      String(user.id),
      '--label',
      'ci',
    );
    const api = createApiClient(stack.apiUrl, key.api_key);
    assert.equal((await api.get('/projects/')).status, 200);
    const [listed] = await admin<{ id: number; label: string; rate_limit: number | null }[]>(
      'key',
      'list',
      '--user',
      `${user.id}`,
    );
    assert.equal(listed?.id, key.id);
    assert.equal(listed?.label, 'ci');
    assert.equal(listed?.rate_limit, null);
    assert.ok(!JSON.stringify(listed).includes(key.api_key));
    await admin('key', 'delete', '--id', String(key.id));
    assert.equal((await api.get('/projects/')).status, 401);
  });

  it('changes the limit of a key, from the next request on', async () => {
    const user = await createUser();
    const key = await admin<{ id: number; api_key: string }>('key', 'create', '--user', String(user));
    const api = createApiClient(stack.apiUrl, key.api_key);
    const changed = await admin<Record<string, unknown>>('key', 'update', '--id', String(key.id), '--rate-limit', '7');
    assert.deepEqual(
      [changed['id'], changed['rate_limit'], changed['project'], changed['expires_at']],
      [key.id, 7, null, null],
    );
    assert.equal((await api.get('/projects/')).headers.get('x-ratelimit-limit'), '7');
    const [listed] = await admin<Record<string, unknown>[]>('key', 'list', '--user', String(user));
    assert.deepEqual(listed, changed);
    assert.equal(await refusal('key', 'update', '--id', '999999', '--rate-limit', '7'), 'There is no key 999999.');
    assert.match(await refusal('key', 'update', '--id', String(key.id), '--rate-limit', '0'), /whole number from 1/);
  });

  it('grants and revokes the use of the API', async () => {
    const user = await admin<{ id: number; api_access: boolean }>('user', 'create', '--name', 'Eve', '--no-api-access');
    assert.equal(user.api_access, false);
    const key = await admin<{ api_key: string }>('key', 'create', '--user', String(user.id), '--rate-limit', '600');
    const api = createApiClient(stack.apiUrl, key.api_key);
    assert.equal((await api.get('/projects/')).status, 403);
    await admin('user', 'grant', '--id', String(user.id));
    assert.equal((await api.get('/projects/')).status, 200);
    await admin('user', 'revoke', '--id', String(user.id));
    assert.equal((await api.get('/projects/')).status, 403);
  });

  it('sets and removes members', async () => {
    const project = await createApiClient(stack.apiUrl, stack.apiKey).createProject();
    const user = await createUser();
    const { api_key: key } = await admin<{ api_key: string }>('key', 'create', '--user', String(user));
    const guest = createApiClient(stack.apiUrl, key);
    const membership = ['--project', String(project), '--user', String(user)];
    assert.equal((await guest.get(`/projects/${project}/`)).status, 404);
    assert.deepEqual(await admin('member', 'set', ...membership, '--role', 'viewer'), {
      project,
      user,
      role: 'viewer',
    });
    assert.equal((await guest.get(`/projects/${project}/`)).status, 200);
    const members = await admin<{ user_id: number; role: string }[]>('member', 'list', '--project', String(project));
    assert.deepEqual(
      members.map(({ user_id: id, role }) => [id, role]),
      [
        [stack.stack.user_id, 'owner'],
        [user, 'viewer'],
      ],
    );
    assert.deepEqual(Object.keys(members[0]!).toSorted(), ['email', 'name', 'role', 'user_id']);
    await admin('member', 'remove', ...membership);
    assert.equal((await guest.get(`/projects/${project}/`)).status, 404);
  });

  it('attaches a provider key that nobody can read again', async () => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const project = await api.createProject();
    const secret = 'sk-canary-provider-key-4711';
    const attached = await admin<{ id: number; masked_key: string }>(
      'provider-key',
      'attach',
      '--project',
      String(project),
      '--provider',
      'openai',
      '--key',
      secret,
      '--name',
      'ours',
    );
    assert.equal(attached.masked_key, '********4711');
    const { body } = await api.get(`/projects/${project}/`);
    assert.ok(JSON.stringify(body).includes('********4711'));
    assert.ok(!JSON.stringify([attached, body]).includes(secret));
    assert.deepEqual(await admin('provider-key', 'detach', '--id', String(attached.id)), {
      id: attached.id,
      deleted: true,
    });
  });

  it('issues a session token for a user, with an end', async () => {
    const user = await createUser();
    const { token } = await admin<{ token: string }>('jwt', 'issue', '--user', String(user), '--ttl', '60');
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, number>;
    assert.equal(claims['user_id'], user);
    assert.equal(claims['exp']! - claims['iat']!, 60);
  });

  it('makes categories and subcategories', async () => {
    const category = await admin<{ id: number }>('category', 'create', '--name', ' News ');
    assert.deepEqual(category, { id: category.id, name: 'News', parent: null });
    const parent = String(category.id);
    const child = await admin<{ id: number }>('category', 'create', '--name', 'Weather', '--parent', parent);
    assert.deepEqual(child, { id: child.id, name: 'Weather', parent: category.id });
    const below = ['category', 'create', '--name', 'x', '--parent'];
    assert.equal(await refusal(...below, String(child.id)), `Category ${child.id} is itself a subcategory.`);
    assert.equal(await refusal(...below, '999999'), 'There is no category 999999.');
    assert.equal(await refusal('category', 'create', '--name', ' '), '--name must not be empty.');
  });

  it('lists categories and deletes them, those with subcategories last, and takes them off workflows', async () => {
    const parent = await admin<{ id: number }>('category', 'create', '--name', 'Sports');
    const child = await admin<{ id: number }>('category', 'create', '--name', 'Chess', '--parent', `${parent.id}`);
    const listed = await admin<{ id: number }[]>('category', 'list');
    const at = listed.findIndex(({ id }) => id === parent.id);
    assert.deepEqual(listed.slice(at, at + 2), [parent, child]);
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const workflow = await api.createWorkflow(await api.createProject(), {});
    const fields = { categories: [parent.id], subcategories: [child.id] };
    assert.equal((await api.patch(`/workflows/${workflow}/`, { body: fields })).status, 200);
    const remove = (id: number): Promise<object> => admin('category', 'delete', '--id', String(id));
    assert.equal(
      await refusal('category', 'delete', '--id', String(parent.id)),
      `Category ${parent.id} has subcategories: delete them first.`,
    );
    assert.deepEqual(await remove(child.id), { id: child.id, deleted: true });
    assert.deepEqual(await remove(parent.id), { id: parent.id, deleted: true });
    const { body } = await api.get<{ categories: number[]; subcategories: number[] }>(`/workflows/${workflow}/`);
    assert.deepEqual([body.categories, body.subcategories], [[], []]);
    assert.equal(await refusal('category', 'delete', '--id', String(child.id)), `There is no category ${child.id}.`);
  });

  it('says what is wrong on standard error', async () => {
    assert.equal(await refusal('user', 'grant', '--id', '999999'), 'There is no user 999999.');
    assert.equal(await refusal('key', 'delete', '--id', '999999'), 'There is no key 999999.');
    assert.match(await refusal('key', 'create', '--user', 'ada'), /whole number from 1/);
    assert.match(await refusal('user', 'create'), /--name/);
    assert.match(
      await refusal('member', 'set', '--project', '1', '--user', '1', '--role', 'king'),
      /owner, admin, editor, viewer/,
    );
    assert.match(await refusal('nonsense'), /unknown command/);
  });
});

describe('the context of an admin command', () => {
  const own = 'postgres://user@127.0.0.1:1/own';
  const stackAt = { api_url: 'http://127.0.0.1:3999', api_key: 'key', user_id: 7, database_url: own, pids: {} };
  const servers = { temporal_address: '', temporal_namespace: '', temporal_ui_url: '', internal_token: '' };
  const stackFile = { ...stackAt, ...servers, configured_secrets: [] };
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'admin-'));
    writeStackFile(dataDir, stackFile);
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  function inContext(env: NodeJS.ProcessEnv, check: (context: AdminContext) => void): Promise<void> {
    return withContext({ DATA_DIR: dataDir, ...env }, (context) => Promise.resolve(check(context)));
  }

  it('has what belongs to the stack where the database is the one of the stack', async () => {
    const { SECRETS_KEY: key, JWT_SECRET: jwt } = readOrCreateSecrets(dataDir);
    for (const env of [{}, { DATABASE_URL: own }]) {
      await inContext(env, ({ secretsKeys, jwtSecret, publicUrl, localUserId, addressRules }) => {
        assert.deepEqual([secretsKeys(), jwtSecret()], [[Buffer.from(key, 'base64')], jwt]);
        assert.deepEqual([publicUrl, localUserId], [stackAt.api_url, stackAt.user_id]);
        assert.equal(addressRules.allowPrivateNetwork, true);
      });
    }
  });

  it('demands the secrets that were set for the stack, because those of secrets.json are not in use', async () => {
    readOrCreateSecrets(dataDir);
    writeStackFile(dataDir, { ...stackFile, configured_secrets: ['SECRETS_KEY', 'JWT_SECRET'] });
    const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    await inContext({}, ({ secretsKeys, jwtSecret }) => {
      assert.throws(secretsKeys, /^AdminError: SECRETS_KEY: must be set, .* it was set for the stack that runs in /);
      assert.throws(jwtSecret, /^AdminError: JWT_SECRET: must be set, .* it was set for the stack that runs in /);
    });
    await inContext({ SECRETS_KEY }, ({ secretsKeys }) => assert.deepEqual(secretsKeys(), [Buffer.alloc(32, 7)]));
  });

  it('has nothing of the stack where the database is another one, and demands the secrets of that one', async () => {
    readOrCreateSecrets(dataDir);
    const DATABASE_URL = 'postgres://user@127.0.0.1:1/other';
    const isRefusal = (variable: string) => (error: Error) =>
      error instanceof AdminError &&
      error.message.startsWith(`${variable}: must be set, `) &&
      error.message.endsWith(`no stack of this database runs in ${dataDir}.`);
    await inContext({ DATABASE_URL }, ({ secretsKeys, jwtSecret, publicUrl, localUserId, addressRules }) => {
      assert.throws(secretsKeys, isRefusal('SECRETS_KEY'));
      assert.throws(jwtSecret, isRefusal('JWT_SECRET'));
      assert.deepEqual([publicUrl, localUserId], ['http://127.0.0.1:3000', undefined]);
      assert.equal(addressRules.allowPrivateNetwork, false);
    });
    const given = { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'), JWT_SECRET: 'x'.repeat(32) };
    await inContext({ DATABASE_URL, ...given }, ({ secretsKeys, jwtSecret }) => {
      assert.deepEqual([secretsKeys(), jwtSecret()], [[Buffer.alloc(32, 7)], given.JWT_SECRET]);
    });
  });

  it('demands the secrets where the database is given and no stack runs', async () => {
    readOrCreateSecrets(dataDir);
    removeStackFile(dataDir);
    await inContext({ DATABASE_URL: own }, ({ secretsKeys }) =>
      assert.throws(secretsKeys, /^AdminError: SECRETS_KEY: /),
    );
  });
});
