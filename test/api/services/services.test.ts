import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';

interface Service {
  id: string;
  name: string;
  source: string;
  version: string;
  action_count: number;
  connection_kinds: string[];
  documentation_url: string | null;
  warnings: { operation: string; message: string }[];
}
interface Action {
  id: string;
  title: string;
  method: string;
  path: string;
  server: string;
  has_side_effects: boolean;
  fields: { properties: Record<string, { 'x-in': string }>; required: string[] };
  result: unknown;
}
interface Page<T> {
  total: number;
  items: T[];
}

const documentOf = (paths: object, version = '1') => ({
  openapi: '3.0.3',
  info: { title: 'Things & <b>more</b>', version, description: 'Things of a shop' },
  servers: [{ url: 'https://things.example.com/v1' }],
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  paths,
});
const PATHS = {
  '/things': {
    get: {
      operationId: 'listThings',
      summary: 'List things',
      parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
      responses: {},
    },
    post: {
      operationId: 'makeThing',
      summary: 'Make a thing',
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
        },
      },
      responses: {},
    },
  },
  '/cookie': {
    get: { operationId: 'withCookie', parameters: [{ name: 's', in: 'cookie', required: true }], responses: {} },
  },
};

describe('services', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let api: ApiClient;
  let project: number;
  let path: string;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    ({ api } = owner);
  });
  beforeEach(async () => {
    project = await api.createProject();
    path = `/projects/${project}/services/`;
  });

  async function make(body: object = { openapi: documentOf(PATHS) }): Promise<Service> {
    const made = await api.post<Service>(path, { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body;
  }

  it('are made of a document, listed before the catalogue, found by their actions, and replaced', async () => {
    const made = await make();
    assert.deepEqual(
      [made.name, made.source, made.version, made.action_count],
      ['Things & <b>more</b>', 'project', '1', 2],
    );
    assert.deepEqual(made.connection_kinds, ['bearer']);
    assert.deepEqual(
      made.warnings.map(({ operation }) => operation),
      ['withCookie'],
    );
    const listed = await api.get<Page<Service>>(`/services/?project=${project}&size=1`);
    assert.equal(listed.body.items[0]!.id, made.id);
    const found = await api.get<Page<Service>>(`/services/?project=${project}&search=make a THING`);
    assert.deepEqual(
      found.body.items.map(({ id }) => id),
      [made.id],
    );
    const inAnyOrder = await api.get<Page<Service>>(`/services/?project=${project}&search=thing make more`);
    assert.deepEqual(
      inAnyOrder.body.items.map(({ id }) => id),
      [made.id],
    );
    const ofCatalogue = await api.get<Page<Service>>('/services/?search=message slack send');
    assert.deepEqual(
      ofCatalogue.body.items.map(({ id }) => id),
      ['slack'],
    );
    const none = await api.get<Page<Service>>(`/services/?project=${project}&search=${encodeURIComponent('%_%')}`);
    assert.equal(none.body.total, 0);

    const actions = await api.get<Page<Action>>(`/services/${made.id}/actions/`);
    assert.deepEqual(
      actions.body.items.map(({ id }) => id),
      ['listThings', 'makeThing'],
    );
    const searched = await api.get<Page<Action>>(`/services/${made.id}/actions/?search=thing make`);
    assert.deepEqual(
      searched.body.items.map(({ id }) => id),
      ['makeThing'],
    );
    const one = await api.get<Action>(`/services/${made.id}/actions/makeThing/`);
    assert.equal(one.status, 200);
    const { method, path: place, server, has_side_effects: hasSideEffects, fields, result } = one.body;
    assert.deepEqual(
      [method, place, server, hasSideEffects, result],
      ['POST', '/things', 'https://things.example.com/v1', true, null],
    );
    assert.deepEqual([fields.properties['name']!['x-in'], fields.required], ['body', ['name']]);
    assert.equal((await api.get(`/services/${made.id}/actions/other/`)).status, 404);

    const { post: _post, ...less } = PATHS['/things'];
    const replaced = await api.put<Service>(`${path}${made.id}/`, {
      body: { openapi: documentOf({ '/things': less }, '2'), name: 'Mine', server_url: 'https://other.example.com/' },
    });
    assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
    assert.deepEqual(
      [replaced.body.id, replaced.body.name, replaced.body.version, replaced.body.action_count],
      [made.id, 'Mine', '2', 1],
    );
    assert.equal(
      (await api.get<Action>(`/services/${made.id}/actions/listThings/`)).body.server,
      'https://other.example.com',
    );
    assert.equal((await api.get(`/services/${made.id}/actions/makeThing/`)).status, 404);
    assert.equal((await api.delete(`${path}${made.id}/`)).status, 204);
    assert.equal((await api.get(`/services/${made.id}/actions/`)).status, 404);
    assert.equal((await api.delete(`${path}${made.id}/`)).status, 404);
  });

  it('of the catalogue can be read by everybody, and those of a project by its members', async () => {
    const made = await make();
    const stranger = await createAccount(stack);
    const catalogue = await stranger.api.get<Page<Service>>('/services/?size=100');
    assert.ok(catalogue.body.total >= 30, `${catalogue.body.total}`);
    assert.ok(catalogue.body.items.reduce((sum, { action_count: count }) => sum + count, 0) >= 150);
    assert.ok(catalogue.body.items.every(({ source }) => source === 'catalogue'));
    const slack = await stranger.api.get<Action>('/services/slack/actions/chat.postMessage/');
    assert.deepEqual([slack.body.method, slack.body.path], ['POST', '/chat.postMessage']);
    assert.equal((await stranger.api.get(`/services/?project=${project}`)).status, 404);
    assert.equal((await stranger.api.get(`/services/${made.id}/actions/`)).status, 404);
    assert.equal((await stranger.api.get(`/services/${randomUUID()}/actions/`)).status, 404);
    assert.equal((await stranger.api.get('/services/nothing/actions/')).status, 404);
    assert.equal((await stranger.api.post(path, { body: { openapi: documentOf(PATHS) } })).status, 404);
    assert.equal((await stranger.api.get('/services/slack/actions/none/')).status, 404);
  });

  it('are refused with a sentence for what is wrong', async () => {
    const refused: [object | string, string, RegExp][] = [
      [{}, 'openapi', /required/],
      [{ openapi: { swagger: '1.0' } }, 'openapi', /^swagger: /],
      [{ openapi: 'just: [text' }, 'openapi', /not valid YAML/],
      [{ openapi: documentOf({}), name: '' }, 'name', /blank/],
      [{ openapi: documentOf({}), server_url: 'ftp://x' }, 'server_url', /valid URL/],
      [{ openapi: 'http://example.com/openapi.json' }, 'openapi', /begins with https/],
      [{ openapi: 'file:///etc/passwd' }, 'openapi', /begins with https/],
      [{ openapi: 'https://user:pw@example.com/' }, 'openapi', /user name/],
    ];
    for (const [body, field, message] of refused) {
      const answer = await api.post<Record<string, string[]>>(path, { body });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.match(answer.body[field]?.[0] ?? '', message, JSON.stringify(answer.body));
    }
    const broken = await api.post<{ code: string }>(path, { text: '{"openapi": ' });
    assert.deepEqual([broken.status, broken.body.code], [400, 'parse_error']);
    const other = await api.post(path, { text: 'x', headers: { 'content-type': 'text/plain' } });
    assert.equal(other.status, 415);
    const large = await api.post(path, { text: `{"openapi": "${'x'.repeat(41 * 1024 * 1024)}"}` });
    assert.equal(large.status, 413);
  });

  it('count in the bytes of the project, until they are deleted', async () => {
    const storedBytes = async () =>
      (await api.get<{ stored_bytes: number }>(`/projects/${project}/`)).body.stored_bytes;
    const before = await storedBytes();
    const made = await make();
    await eventually(async () => (await storedBytes()) > before + 200);
    await api.delete(`${path}${made.id}/`);
    await eventually(async () => (await storedBytes()) === before);
  });

  it('are in the audit log with what has changed', async () => {
    const made = await make();
    await api.put(`${path}${made.id}/`, { body: { openapi: documentOf(PATHS, '2') } });
    await api.delete(`${path}${made.id}/`);
    const log = await api.get<Page<{ action: string; changes: Record<string, unknown>; target: { id: string } }>>(
      `/projects/${project}/audit/`,
    );
    const mine = log.body.items.filter(({ target }) => target?.id === made.id);
    assert.deepEqual(
      mine.map(({ action }) => action),
      ['service.deleted', 'service.changed', 'service.created'],
    );
    assert.deepEqual(mine[1]!.changes, { version: ['1', '2'] });
  });
});
