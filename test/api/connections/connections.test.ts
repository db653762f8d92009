import assert from 'node:assert/strict';
import { drawing, http, linkInRow, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../../support/token-provider.js';
import { createAccount, giveRole, sessionOf, type Account } from '../accounts.js';
import { createConnection, oauthConnection, readConnection, signIn, type ConnectionBody } from './sign-in.js';

describe('connections of a project', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let provider: TokenProvider;
  let projectId: number;
  let path: string;

  before(async () => {
    stack = await sharedStack();
    [account, target, provider] = await Promise.all([createAccount(stack), startHttpTarget(), startTokenProvider()]);
    projectId = await account.api.createProject();
    path = `/projects/${projectId}/connections/`;
  });
  after(() => Promise.all([target.close(), provider.close()]));

  const bearer = (name: string, token = 'a-secret-token') => ({
    name,
    kind: 'bearer',
    origins: [target.url],
    secrets: { token },
  });

  it('are made, listed by name, and never show a secret', async () => {
    const id = await createConnection(account, projectId, bearer('first', 'canary-of-the-list'));
    const { body } = await account.api.get<{ items: ConnectionBody[] }>(path);
    const listed = body.items.find((each) => each.id === id)!;
    assert.deepEqual([listed.secrets, listed.status, listed.used_by], [{ token: '********' }, 'ready', 0]);
    assert.ok(!JSON.stringify(body).includes('canary-of-the-list'));
    const [row] = await queryDatabase<{ text: string }>(
      stack,
      `SELECT connections::text || encode(secrets_enc, 'escape') AS text FROM connections WHERE id = $1`,
      [id],
    );
    assert.ok(!row!.text.includes('canary-of-the-list'));
  });

  it('have unique names in their project', async () => {
    await createConnection(account, projectId, bearer('taken'));
    const again = await account.api.post<object>(path, { body: bearer('taken') });
    assert.deepEqual([again.status, Object.keys(again.body)], [400, ['name']]);
    const names = Array.from({ length: 8 }, (_, at) => `renamed ${at}`);
    const ids = await Promise.all(names.map((name) => createConnection(account, projectId, bearer(name))));
    const answers = await Promise.all(ids.map((id) => account.api.patch(`${path}${id}/`, { body: { name: 'one' } })));
    assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['200', ...Array<string>(7).fill('400')]);
  });

  for (const [what, change, field] of [
    ['no origin', { origins: [] }, 'origins'],
    ['an origin with a path', { origins: ['https://a.example.com/path'] }, 'origins'],
    ['an unknown kind', { kind: 'password' }, 'kind'],
    ['no secret', { secrets: {} }, 'secrets'],
    ['a mask for which nothing is stored', { secrets: { token: '********' } }, 'secrets'],
    ['a setting of another kind', { settings: { name: 'x' } }, 'settings'],
    ['a line break in a header', { secrets: { token: 'a\r\nb: c' } }, 'secrets'],
    ['settings that are a text', { settings: 'x' }, 'settings'],
  ] as const) {
    it(`are a 400 with ${what}`, async () => {
      const { status, body } = await account.api.post<object>(path, {
        body: { ...bearer(`wrong: ${what}`), ...change },
      });
      assert.deepEqual([status, Object.keys(body)], [400, [field]], JSON.stringify(body));
    });
  }

  it('keep a secret that is masked or left out, but need it again if the origins change', async () => {
    const id = await createConnection(account, projectId, bearer('kept'));
    const change = (body: object) => account.api.patch<ConnectionBody>(`${path}${id}/`, { body });
    assert.equal((await change({ name: 'kept on', secrets: { token: '********' } })).status, 200);
    const moved = { origins: ['https://elsewhere.example.com'] };
    const refused = await change(moved);
    assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['secrets']]);
    assert.equal((await change({ ...moved, secrets: { token: '********' } })).status, 400);
    assert.equal((await change({ ...moved, secrets: { token: 'new' } })).status, 200);
    assert.deepEqual((await readConnection(account, projectId, id)).origins, moved.origins);
  });

  it('need each of several secrets again if the origins change', async () => {
    const names = ['x-one', 'x-two'];
    const body = { name: 'several', kind: 'header', origins: [target.url], settings: { names } };
    const id = await createConnection(account, projectId, { ...body, secrets: { values: ['one', 'two'] } });
    const move = async (values: string[]) => {
      const moved = { origins: ['https://elsewhere.example.com'], secrets: { values } };
      return (await account.api.patch(`${path}${id}/`, { body: moved })).status;
    };
    assert.equal(await move(['********', '********']), 400);
    assert.equal(await move(['new', '********']), 400);
    assert.equal(await move(['new', 'newer']), 200);
  });

  it('change between one header and several, with new secrets if the origins change, too', async () => {
    const body = { name: 'forms', kind: 'header', origins: [target.url], settings: { name: 'x-one' } };
    const id = await createConnection(account, projectId, { ...body, secrets: { value: 'one' } });
    const change = (changes: object) => account.api.patch<ConnectionBody>(`${path}${id}/`, { body: changes });
    const tried = async (pathname: string) => {
      await account.api.post(`${path}${id}/test/`, { body: { url: target.url + pathname } });
      const { headers } = target.requestsTo(pathname).at(-1)!;
      return [headers['x-one'], headers['x-two']];
    };
    const names = { names: ['x-one', 'x-two'] };
    for (const secrets of [undefined, {}, { values: ['********', 'two'] }, { value: 'one', values: ['one', 'two'] }]) {
      const refused = await change({ settings: names, secrets });
      assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['secrets']], JSON.stringify(refused.body));
    }
    const several = await change({ settings: names, secrets: { values: ['1', '2'] } });
    assert.deepEqual(
      [several.status, several.body.settings, several.body.secrets],
      [200, names, { values: ['********', '********'] }],
    );
    assert.deepEqual(await tried('/several'), ['1', '2']);
    const single = await change({ settings: { name: 'x-two' }, secrets: { value: '3' } });
    assert.deepEqual([single.status, single.body.secrets], [200, { value: '********' }]);
    assert.deepEqual(await tried('/single'), [undefined, '3']);
    const moved = { origins: ['https://elsewhere.example.com'], settings: names };
    for (const secrets of [{ values: ['********', 'new'] }, { value: 'new', values: ['********', 'new'] }]) {
      assert.equal((await change({ ...moved, secrets })).status, 400);
    }
    assert.equal((await change({ ...moved, secrets: { values: ['new', 'newer'] } })).status, 200);
  });

  it('lose an optional secret that is null, and keep a required one: 400', async () => {
    const id = await oauthConnection(account, projectId, provider, 'without a secret');
    const change = (of: number, secrets: object) =>
      account.api.patch<ConnectionBody>(`${path}${of}/`, { body: { secrets } });
    const removed = await change(id, { client_secret: null });
    assert.deepEqual([removed.status, removed.body.secrets], [200, {}]);
    assert.deepEqual((await change(id, { client_secret: '********' })).body.secrets, {});
    const required = await createConnection(account, projectId, bearer('with a secret'));
    const refused = await change(required, { token: null });
    assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['secrets']]);
    assert.deepEqual((await readConnection(account, projectId, required)).secrets, { token: '********' });
  });

  it('may be used by editors, and changed by admins only', async () => {
    const id = await createConnection(account, projectId, bearer('roles'));
    const [editor, viewer] = await Promise.all([createAccount(stack), createAccount(stack)]);
    await giveRole(stack, editor, projectId, 'editor');
    await giveRole(stack, viewer, projectId, 'viewer');
    assert.equal((await editor.api.get(path)).status, 200);
    assert.equal((await viewer.api.get(path)).status, 403);
    assert.equal((await editor.api.patch(`${path}${id}/`, { body: { name: 'x' } })).status, 403);
    assert.equal((await editor.api.post(`${path}${id}/test/`, { body: {} })).status, 200);
    assert.equal((await createAccount(stack).then(({ api }) => api.get(path))).status, 404);
  });

  it('can be tested at one of their origins, and at no other address', async () => {
    const id = await createConnection(account, projectId, bearer('tried', 'token-that-is-tried'));
    const test = (body: object) =>
      account.api.post<{ ok: boolean; status: number | null; message: string }>(`${path}${id}/test/`, { body });
    assert.deepEqual((await test({ url: `${target.url}/tried` })).body.ok, true);
    assert.equal(target.requestsTo('/tried').at(-1)!.headers.authorization, 'Bearer token-that-is-tried');
    const elsewhere = await test({ url: 'https://example.com/' });
    assert.deepEqual([elsewhere.status, Object.keys(elsewhere.body)], [400, ['url']]);
    target.on('/denied', { status: 401 });
    assert.deepEqual((await test({ url: `${target.url}/denied` })).body.status, 401);
    assert.equal((await readConnection(account, projectId, id)).status, 'failing');
    await test({ url: `${target.url}/tried` });
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
  });

  it('cannot be deleted while a workflow uses them: 409 with the title of the workflow', async () => {
    const id = await createConnection(account, projectId, bearer('used'));
    const begin = trigger();
    const call = http(`${target.url}/used`, { connection: id });
    linkInRow([begin, call]);
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, call]), 'The user of it');
    assert.equal((await readConnection(account, projectId, id)).used_by, 1);
    const used = await account.api.get<{ workflows: { id: number }[] }>(`${path}${id}/used-by/`);
    assert.deepEqual(
      used.body.workflows.map((workflow) => workflow.id),
      [workflowId],
    );
    const refused = await account.api.delete<{ detail: string }>(`${path}${id}/`);
    assert.equal(refused.status, 409);
    assert.match(refused.body.detail, /The user of it/);
    const exported = await account.api.get<{ connections: object[]; data: object }>(`/workflows/${workflowId}/export/`);
    assert.deepEqual(exported.body.connections, [{ ref: 'c1', name: 'used', kind: 'bearer', origins: [target.url] }]);
    const there = await account.api.createProject();
    const imported = await account.api.post<{ warnings: { message: string }[] }>(`/projects/${there}/import/`, {
      body: exported.body,
    });
    assert.match(JSON.stringify(imported.body.warnings), /Choose the connection/);
    const here = await account.api.post<{ data: typeof begin; warnings: object[] }>(`/projects/${projectId}/import/`, {
      body: exported.body,
    });
    assert.deepEqual(here.body.warnings, []);
    assert.ok(JSON.stringify(here.body.data).includes(`"connection":${id}`));
  });

  describe('of OAuth', () => {
    it('are not authorized at first; a session authorizes them, in the browser that starts the sign-in', async () => {
      const id = await oauthConnection(account, projectId, provider, 'signed in');
      assert.equal((await readConnection(account, projectId, id)).status, 'needs_authorization');
      const session = await sessionOf(stack, account);
      assert.equal((await account.api.post(`${path}${id}/authorize/`)).status, 403);
      const end = await signIn(stack, account, { projectId, id });
      assert.deepEqual(
        [end.pathname, end.searchParams.get('tab'), end.searchParams.get('project'), end.searchParams.get('error')],
        ['/settings', 'connections', String(projectId), null],
      );
      const { status, account: who, expires_at: expires } = await readConnection(account, projectId, id);
      assert.deepEqual([status, who], ['ready', 'ada@example.com']);
      assert.ok(Date.parse(expires!) > Date.now() + 3_000_000);
      const begun = await session.post<{ url: string }>(`${path}${id}/authorize/`);
      const page = await fetch(begun.body.url, { redirect: 'manual' });
      const back = new URL(page.headers.get('location')!);
      const withoutCookie = await fetch(`${stack.apiUrl}${back.pathname}${back.search}`, { redirect: 'manual' });
      assert.match(withoutCookie.headers.get('location')!, /error=invalid_state/);
    });

    it('refuse a sign-in if their addresses were changed meanwhile', async () => {
      const id = await oauthConnection(account, projectId, provider, 'changed');
      const session = await sessionOf(stack, account);
      const begun = await session.post<{ url: string }>(`${path}${id}/authorize/`);
      const [cookie = ''] = begun.headers.get('set-cookie')!.split(';');
      const body = {
        settings: { ...provider.settings, token_url: `${provider.url}/other-token` },
        secrets: { client_secret: provider.clientSecret },
      };
      assert.equal((await account.api.patch(`${path}${id}/`, { body })).status, 200);
      const page = await fetch(begun.body.url, { redirect: 'manual' });
      const back = new URL(page.headers.get('location')!);
      const end = await fetch(`${stack.apiUrl}${back.pathname}${back.search}`, {
        redirect: 'manual',
        headers: { cookie },
      });
      assert.match(end.headers.get('location')!, /error=invalid_state/);
      assert.equal((await readConnection(account, projectId, id)).status, 'needs_authorization');
    });

    it('report that the provider has refused', async () => {
      const id = await createConnection(account, projectId, {
        name: 'wrong secret',
        kind: 'oauth2',
        origins: [provider.url],
        settings: provider.settings,
        secrets: { client_secret: 'wrong' },
      });
      const end = await signIn(stack, account, { projectId, id });
      assert.equal(end.searchParams.get('error'), 'provider_refused');
      const refused = await readConnection(account, projectId, id);
      assert.deepEqual([refused.status, refused.account, refused.expires_at], ['needs_authorization', null, null]);
      const body = { secrets: { client_secret: provider.clientSecret } };
      assert.equal((await account.api.patch(`${path}${id}/`, { body })).status, 200);
      assert.equal((await signIn(stack, account, { projectId, id })).searchParams.get('error'), null);
      assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    });
  });
});
