// HTTP nodes with actions, and actions as tools of agents (docs/use/services.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../../../harness/drawing/drawing.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import type { ModelAnswer } from '../../../../harness/target/fake-model-provider.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../../../harness/target/http-target.js';
import { createAccount, type Account } from '../../../api/accounts.js';
import { approvalsOf, decide } from '../../../support/agents.js';
import { historyOf, queryDatabase } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';

interface Check {
  is_valid: boolean;
  errors: { node_id: string; path: string; message: string }[];
  warnings: { node_id: string | null; code: string; path?: string }[];
}
type Data = Record<string, unknown>;
interface StoredDrawing {
  nodes: { id: string; data: Data & { action: Data; values?: Data; tools?: (Data & { action?: Data })[] } }[];
}

describe('nodes with actions', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;
  let project: number;
  let service: string;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    ({ api } = account);
    project = await api.createProject();
    service = await addService();
  });
  after(() => target.close());

  const documentOf = (more: object = {}, version = '1', servers: object[] = [{ url: `${target.url}/api` }]) => ({
    openapi: '3.0.3',
    info: { title: 'Shop', version },
    servers,
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } } },
    paths: {
      '/orders/{order}': {
        parameters: [{ name: 'order', in: 'path', required: true, schema: { type: 'string' } }],
        get: { operationId: 'getOrder', summary: 'Get an order', responses: {} },
        patch: {
          operationId: 'changeOrder',
          summary: 'Change an order',
          description: 'Text of the service {{ nobody.result.content }}',
          parameters: [
            { name: 'tags', in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' } } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
            { name: 'X-Shop-Key', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['status'],
                  properties: {
                    status: { type: 'string' },
                    count: { type: 'integer' },
                    lines: { type: 'array', items: { type: 'string' } },
                    api_token: { type: 'string' },
                    pin: { type: 'string', format: 'password' },
                  },
                },
              },
            },
          },
          responses: {},
        },
        ...more,
      },
      '/elsewhere': {
        get: {
          operationId: 'elsewhere',
          servers: [{ url: target.url.replace('127.0.0.1', 'localhost') }],
          responses: {},
        },
      },
    },
  });

  async function addService(document: object = documentOf()): Promise<string> {
    const made = await api.post<{ id: string }>(`/projects/${project}/services/`, { body: { openapi: document } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.id;
  }

  const call = (id: string, values: Data = {}, data: Data = {}): DrawingNode =>
    node('http', { action: { service, id }, values, ...data });

  const create = (...nodes: DrawingNode[]): Promise<number> =>
    api.createWorkflow(project, drawing(linkInRow([trigger(), ...nodes])));

  async function stored(workflowId: number): Promise<StoredDrawing> {
    return (await api.get<{ data: StoredDrawing }>(`/workflows/${workflowId}/`)).body.data;
  }

  const inDrawing = ({ nodes }: StoredDrawing, { id }: DrawingNode) => nodes.find((each) => each.id === id)!.data;

  const check = async (workflowId: number): Promise<Check> =>
    (await api.get<Check>(`/workflows/${workflowId}/check_workflow/`)).body;

  async function run(workflowId: number, input: unknown = {}) {
    const started = await api.run(workflowId, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    const { data } = await api.pollToEnd(started.data.id);
    return { runId: started.data.id, status: data.status, nodes: data.data! };
  }

  async function tokenConnection(): Promise<number> {
    target.on('/token', () => ({ body: { access_token: randomUUID(), token_type: 'bearer' } }));
    const made = await api.post<{ id: number }>(`/projects/${project}/connections/`, {
      body: {
        name: `tokens ${randomUUID()}`,
        kind: 'oauth2_client_credentials',
        origins: [target.url],
        settings: { token_url: `${target.url}/token`, client_id: 'client' },
        secrets: { client_secret: 'secret-of-the-client' },
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.id;
  }

  it('send what their service says, with values and variables in their places', async () => {
    const path = `${randomUUID()}/x`;
    const change = call('changeOrder', {
      order: path,
      tags: ['a', '{{ input.tag }}'],
      'X-Trace': 't-{{ input.tag }}',
      status: '{{ input.status }}',
      count: '{{ input.count }}',
      lines: [],
    });
    const { status, nodes } = await run(await create(change), { tag: 'b c', status: '{{ input.tag }}', count: 7 });
    assert.equal(status, 'succeed', JSON.stringify(nodes));
    const [sent] = target.requests.filter(({ path: at }) => at.includes(encodeURIComponent(path)));
    assert.deepEqual([sent!.method, sent!.path], ['PATCH', `/api/orders/${encodeURIComponent(path)}`]);
    assert.equal(sent!.query['tags'], 'a,b c');
    assert.equal(sent!.headers['x-trace'], 't-b c');
    // A value is never rendered again.
    assert.equal(sent!.body, '{"status":"{{ input.tag }}","count":7,"lines":[]}');
    assert.equal(sent!.headers['content-type'], 'application/json');
    assert.ok(sent!.headers['idempotency-key']);
  });

  it('fail with invalid_value before anything is sent', async () => {
    const mark = randomUUID();
    const values: [Data, unknown][] = [
      [{ order: '{{ input.x }}', status: mark }, ''],
      [{ order: '{{ input.x }}', status: mark }, '..'],
      [{ order: mark, status: '{{ input.x }}' }, null],
      [{ order: mark, status: 'x', 'X-Trace': '{{ input.x }}' }, 'a\r\nX-Evil: 1'],
    ];
    for (const [given, x] of values) {
      const change = call('changeOrder', given);
      const { nodes } = await run(await create(change), { x });
      assert.equal(nodes[change.id]!.error?.code, 'invalid_value', JSON.stringify(nodes[change.id]));
    }
    assert.deepEqual(
      target.requests.filter(({ path, body }) => path.includes(mark) || body.includes(mark)),
      [],
    );
  });

  it('are checked: unknown actions and fields, missing ones, wrong types, and what a node may not say beside', async () => {
    const wrong: [DrawingNode, Record<string, string>][] = [
      [
        call('changeOrder', { order: 7, status: '', other: 1 }),
        {
          'values.order': 'Input should be a valid string',
          'values.status': 'Field required',
          'values.other': 'Extra inputs are not permitted',
        },
      ],
      [call('nothing'), { action: 'The service has no such action.' }],
      [
        call('getOrder', { order: 'x' }, { url: 'https://example.com', headers: {}, body: 'x', method: 'anything' }),
        {
          url: 'Field not permitted beside an action',
          headers: 'Field not permitted beside an action',
          body: 'Field not permitted beside an action',
        },
      ],
      [call('getOrder', {}, { action: 'text' }), { action: 'Input should be a valid dictionary' }],
      [
        node('http', { action: { service: randomUUID(), id: 'getOrder' } }),
        { action: 'The service has no such action.' },
      ],
      [
        node('http', { action: { service: 'shopify', id: 'list_orders' } }),
        { connection: 'Field required, because the address of the service differs from account to account' },
      ],
    ];
    for (const [drawn, expected] of wrong) {
      const workflowId = await create(drawn);
      const { errors } = await check(workflowId);
      assert.deepEqual(Object.fromEntries(errors.map(({ path, message }) => [path, message])), expected);
      const refused = await api.run(workflowId);
      assert.equal(refused.status, 422);
    }
    assert.equal((await check(await create(call('getOrder', { order: 'x' }, { method: 'anything' })))).is_valid, true);
  });

  it('keep what they have stored, until their action or values change, or are refreshed', async () => {
    const own = await addService();
    const drawn = node('http', {
      action: {
        service: own,
        id: 'getOrder',
        server: 'https://evil.example.com',
        method: 'DELETE',
        fields: {},
        path: '/x',
      },
      values: { order: 'a' },
    });
    const workflowId = await create(drawn);
    const first = await stored(workflowId);
    const facts = inDrawing(first, drawn).action;
    assert.deepEqual(
      [facts['server'], facts['method'], facts['path']],
      [`${target.url}/api`, 'GET', '/orders/{order}'],
    );
    await api.put(`/projects/${project}/services/${own}/`, {
      body: { openapi: documentOf({}, '2', [{ url: `${target.url}/v2` }]) },
    });
    const { warnings, is_valid: isValid } = await check(workflowId);
    assert.deepEqual(
      [isValid, warnings.map(({ code, path }) => [code, path])],
      [true, [['action_outdated', 'action']]],
    );
    const save = async (change: (data: Data) => Data) => {
      const data = await stored(workflowId);
      const nodes = data.nodes.map((each) => (each.id === drawn.id ? { ...each, data: change(each.data) } : each));
      const saved = await api.patch<{ data: StoredDrawing }>(`/workflows/${workflowId}/`, {
        body: { data: { ...data, nodes } },
      });
      assert.equal(saved.status, 200, JSON.stringify(saved.body));
      return inDrawing(saved.body.data, drawn).action;
    };
    const labelled = await save((data) => ({
      ...data,
      label: 'other',
      action: { ...(data['action'] as Data), server: 'https://evil.example.com' },
    }));
    assert.equal(labelled['server'], `${target.url}/api`);
    const changed = await save((data) => ({ ...data, values: { order: 'b' } }));
    assert.equal(changed['server'], `${target.url}/v2`);
    await api.put(`/projects/${project}/services/${own}/`, {
      body: { openapi: documentOf({}, '3', [{ url: `${target.url}/v3` }]) },
    });
    const refreshed = await save((data) => ({ ...data, action: { ...(data['action'] as Data), refresh: true } }));
    assert.deepEqual([refreshed['server'], refreshed['refresh']], [`${target.url}/v3`, undefined]);

    assert.equal((await api.delete(`/projects/${project}/services/${own}/`)).status, 409);
    assert.equal((await api.delete(`/projects/${project}/services/${own}/?force=true`)).status, 204);
    assert.deepEqual(
      (await check(workflowId)).warnings.map(({ code }) => code),
      ['action_outdated'],
    );
    const { status } = await run(workflowId);
    assert.equal(status, 'succeed');
    const copy = await api.post<{ id: number }>(`/workflows/${workflowId}/duplicate/`);
    assert.equal((await run(copy.body.id)).status, 'succeed');
  });

  it('take in a draft what the service says then, and the save keeps that', async () => {
    const own = await addService();
    const drawn = node('http', { action: { service: own, id: 'getOrder' }, values: { order: 'a' } });
    const workflowId = await create(drawn);
    const put = (version: string) =>
      api.put(`/projects/${project}/services/${own}/`, {
        body: { openapi: documentOf({}, version, [{ url: `${target.url}/${version}` }]) },
      });
    await put('v2');
    const data = await stored(workflowId);
    const refreshing = {
      ...data,
      nodes: data.nodes.map((each) =>
        each.id === drawn.id
          ? { ...each, data: { ...each.data, action: { ...each.data.action, refresh: true } } }
          : each,
      ),
    };
    const draft = await api.put<{ data: StoredDrawing }>(`/workflows/${workflowId}/draft/`, {
      body: { data: refreshing, base_version: 1 },
    });
    assert.equal(draft.status, 200, JSON.stringify(draft.body));
    const kept = inDrawing(draft.body.data, drawn).action;
    assert.deepEqual([kept['server'], kept['refresh']], [`${target.url}/v2`, undefined]);
    await put('v3');
    const saved = await api.patch<{ data: StoredDrawing }>(`/workflows/${workflowId}/`, {
      body: { data: draft.body.data, from_draft: true },
    });
    assert.equal(inDrawing(saved.body.data, drawn).action['server'], `${target.url}/v2`);
  });

  it('seal and mask literals of credential fields, send them, and keep them when other values change', async () => {
    const [token, pin] = [`tok-${randomUUID()}`, `pin-${randomUUID()}`];
    const change = call('changeOrder', { order: 'o', status: 's', api_token: token, pin });
    const workflowId = await create(change);
    const masked = inDrawing(await stored(workflowId), change).values!;
    assert.deepEqual([masked['api_token'], masked['pin'], masked['status']], ['********', '********', 's']);
    const { warnings } = await check(workflowId);
    assert.deepEqual(warnings.filter(({ code }) => code === 'literal_credential').length, 2);
    const data = await stored(workflowId);
    const nodes = data.nodes.map((each) =>
      each.id === change.id
        ? { ...each, data: { ...each.data, values: { ...each.data.values, status: randomUUID() } } }
        : each,
    );
    assert.equal((await api.patch(`/workflows/${workflowId}/`, { body: { data: { ...data, nodes } } })).status, 200);
    const { runId, nodes: entries } = await run(workflowId);
    const sent = JSON.parse(target.requests.at(-1)!.body) as Data;
    assert.deepEqual([sent['api_token'], sent['pin']], [token, pin]);
    const poll = JSON.stringify(entries);
    assert.ok(!poll.includes(token) && !poll.includes(pin), poll);
    const rows = await queryDatabase(stack, 'SELECT document::text FROM workflows WHERE id = $1', [workflowId]);
    assert.ok(!JSON.stringify(rows).includes(token));
    assert.ok(!JSON.stringify(await historyOf(stack, runId)).includes(token));
    const exported = await api.get(`/workflows/${workflowId}/export/`);
    assert.ok(!JSON.stringify(exported.body).includes(token));
    // The stored values are not kept when the node gets an action of another service.
    const other = await addService();
    const moved = {
      ...data,
      nodes: (await stored(workflowId)).nodes.map((each) =>
        each.id === change.id
          ? { ...each, data: { ...each.data, action: { service: other, id: 'changeOrder' } } }
          : each,
      ),
    };
    assert.equal((await api.patch(`/workflows/${workflowId}/`, { body: { data: moved } })).status, 200);
    const { errors } = await check(workflowId);
    assert.deepEqual(errors.map(({ path }) => path).toSorted(), ['values.api_token', 'values.pin']);
  });

  it('send the credential of their connection, and go nowhere else with it', async () => {
    const connection = await api.post<{ id: number }>(`/projects/${project}/connections/`, {
      body: {
        name: `shop ${randomUUID()}`,
        kind: 'header',
        origins: [target.url],
        settings: { name: 'X-Shop-Key' },
        secrets: { value: 'key-of-the-shop' },
      },
    });
    assert.equal(connection.status, 201, JSON.stringify(connection.body));
    const { id } = connection.body;
    const order = randomUUID();
    const fine = call('getOrder', { order }, { connection: id });
    const { status } = await run(await create(fine));
    assert.equal(status, 'succeed');
    assert.equal(target.requestsTo(`/api/orders/${order}`)[0]!.headers['x-shop-key'], 'key-of-the-shop');
    const away = call('elsewhere', {}, { connection: id });
    const { nodes } = await run(await create(away));
    assert.equal(nodes[away.id]!.error?.code, 'connection_origin');
    assert.deepEqual(target.requestsTo('/elsewhere'), []);
    const shop = node('http', { action: { service: 'shopify', id: 'list_orders' }, connection: id });
    const { nodes: ofShop } = await run(await create(shop));
    assert.equal(ofShop[shop.id]!.error?.code, 'connection_origin');
  });

  it('do not send a request again whose redirect leads to a 401, or away from their connection', async () => {
    const connection = await tokenConnection();
    for (const [to, code] of [
      [`${target.url}/api/orders/refused`, 'http_status'],
      [target.url.replace('127.0.0.1', 'localhost'), 'connection_origin'],
    ] as const) {
      const order = randomUUID();
      target.on(`/api/orders/${order}`, { status: 303, headers: { location: to } });
      target.on('/api/orders/refused', { status: 401 });
      const change = call('changeOrder', { order, status: 'x' }, { connection });
      const { nodes } = await run(await create(change));
      assert.equal(nodes[change.id]!.error?.code, code);
      assert.equal(target.requestsTo(`/api/orders/${order}`).length, 1);
    }
    const renewed = randomUUID();
    target.on(`/api/orders/${renewed}`, [{ status: 401 }, {}]);
    const change = call('changeOrder', { order: renewed, status: 'x' }, { connection });
    assert.equal((await run(await create(change))).status, 'succeed');
    assert.equal(target.requestsTo(`/api/orders/${renewed}`).length, 2);
  });

  it('are exported with the names of their services, and imported into a project that has them', async () => {
    const name = `Shop ${randomUUID()}`;
    const made = await api.post<{ id: string }>(`/projects/${project}/services/`, {
      body: { openapi: documentOf(), name },
    });
    const action = { service: made.body.id, id: 'getOrder' };
    const drawn = node('http', { label: 'Get the order', action, values: { order: 'a' } });
    const file = await api.get<{ data: StoredDrawing; services: { ref: string; name: string }[] }>(
      `/workflows/${await create(drawn)}/export/`,
    );
    assert.deepEqual(file.body.services, [{ ref: 's1', name }]);
    assert.deepEqual(inDrawing(file.body.data, drawn).action, { service: 's1', id: 'getOrder' });
    const other = await api.createProject();
    const strange = await api.post<{ id: number; warnings: { node: string; message: string }[] }>(
      `/projects/${other}/import/`,
      { body: file.body },
    );
    assert.equal(strange.status, 201, JSON.stringify(strange.body));
    const [warning] = strange.body.warnings;
    assert.match(warning!.message, new RegExp(`Add the service "${name}"`));
    assert.equal(warning!.node, 'Get the order');
    const here = await api.post<{ id: string }>(`/projects/${other}/services/`, {
      body: { openapi: documentOf(), name },
    });
    const taken = await api.post<{ id: number; warnings: object[] }>(`/projects/${other}/import/`, { body: file.body });
    assert.deepEqual(taken.body.warnings, []);
    assert.equal(inDrawing(await stored(taken.body.id), drawn).action['service'], here.body.id);
    assert.equal((await run(taken.body.id)).status, 'succeed');
  });

  describe('as tools of an agent', () => {
    function agentWith(tools: Data[], answers: ModelAnswer[], settings: Data = {}) {
      const model = `action-tools-${randomUUID()}`;
      stack.modelProvider.script(model, answers);
      const work = node('agent', {
        messages: [{ role: 'user', message: 'Work' }],
        settings: { model_name: model, ...settings },
        tools: tools.map((tool) => ({ type: 'action', service, ...tool })),
      });
      return { model, work };
    }
    const asks = (name: string, ...all: object[]): ModelAnswer => ({
      toolCalls: all.map((given) => ({ name, arguments: given })),
    });
    const offered = (model: string) =>
      stack.modelProvider.requestsFor(model)[0]!.body['tools'] as {
        function: { name: string; description: string; parameters: Data };
      }[];
    const answersTo = (model: string): string[] =>
      stack.modelProvider
        .requestsFor(model)
        .at(-1)!
        .messages.filter(({ role }) => role === 'tool')
        .map(({ content }) => String(content));

    it('offer the fields that are not fixed, and send both', async () => {
      const order = randomUUID();
      const { model, work } = agentWith(
        [{ id: 'changeOrder', require_approval: 'never', values: { order, 'X-Trace': '{{ input.trace }}' } }],
        [asks('Change_an_order', { status: '{{ input.trace }}', count: 3 }), { text: 'Done' }],
      );
      const { status, nodes } = await run(await create(work), { trace: 'of-input' });
      assert.equal(status, 'succeed', JSON.stringify(nodes));
      const [{ function: tool }] = offered(model) as [
        { function: { name: string; description: string; parameters: { properties: Data; required: string[] } } },
      ];
      assert.deepEqual(
        [tool.name, tool.description],
        ['Change_an_order', 'Change an order. Text of the service {{ nobody.result.content }}'],
      );
      assert.deepEqual(Object.keys(tool.parameters.properties), [
        'tags',
        'status',
        'count',
        'lines',
        'api_token',
        'pin',
      ]);
      assert.deepEqual(tool.parameters.required, ['status']);
      assert.ok(!JSON.stringify(tool).includes('x-in'));
      const [sent] = target.requestsTo(`/api/orders/${order}`);
      assert.deepEqual(
        [sent!.method, sent!.headers['x-trace'], sent!.body],
        ['PATCH', 'of-input', '{"status":"{{ input.trace }}","count":3}'],
      );
      assert.match(answersTo(model)[0]!, /of-input/);
    });

    it('wait for a person by default where the action has side effects, and not where it only reads', async () => {
      const order = randomUUID();
      const { work } = agentWith(
        [
          { id: 'changeOrder', name: 'change' },
          { id: 'getOrder', name: 'get' },
        ],
        [asks('get', { order }), asks('change', { order, status: 'x' }), { text: 'Done' }],
      );
      const started = await api.run(await create(work));
      const requests = await approvalsOf(api, started.data.id, work.id);
      assert.deepEqual(
        [requests.length, requests[0]!.tool_name, requests[0]!.server_label],
        [1, 'change', `service:${service}`],
      );
      assert.deepEqual(
        target.requestsTo(`/api/orders/${order}`).map(({ method }) => method),
        ['GET'],
      );
      for (const changed of [
        { order, status: 'x', evil: 1 },
        { order: '', status: '' },
      ]) {
        const refused = await api.post<Data>(
          `/workflows/workflow_run/${started.data.id}/agent-approval/${requests[0]!.request_id}/approve/`,
          { body: { arguments: changed } },
        );
        assert.deepEqual([refused.status, Object.keys(refused.body)], [400, ['arguments']]);
      }
      await decide(api, started.data.id, requests[0]!.request_id, 'approve');
      const { data } = await api.pollToEnd(started.data.id);
      assert.equal(data.status, 'succeed');
      assert.deepEqual(
        target.requestsTo(`/api/orders/${order}`).map(({ method }) => method),
        ['GET', 'PATCH'],
      );
    });

    it('tell the model what does not fit, what the server refuses, and what failed', async () => {
      const order = randomUUID();
      target.on(`/api/orders/${order}`, { status: 409, body: 'taken' });
      const { model, work } = agentWith(
        [{ id: 'changeOrder', name: 'change', require_approval: 'never' }],
        [
          asks(
            'change',
            { order, status: '' },
            { order, status: 1, other: true },
            { order: '..', status: 'x' },
            { order, status: 'x' },
          ),
          { text: 'Done' },
        ],
      );
      const { status, nodes } = await run(await create(work));
      assert.equal(status, 'succeed', JSON.stringify(nodes));
      const [missing, wrong, dots, conflict] = answersTo(model);
      assert.match(missing!, /status: Field required/);
      assert.match(wrong!, /status: Input should be a valid string; other: Extra inputs/);
      assert.match(dots!, /not made: .*cannot be "\.\."/);
      assert.match(conflict!, /status 409: taken/);
      assert.equal(target.requestsTo(`/api/orders/${order}`).length, 1);
    });

    it('are attempted four times where their server breaks the connection, and the model is told then', async () => {
      for (const [broken, attempts] of [
        [3, 4],
        [1_000, 4],
      ] as const) {
        const order = randomUUID();
        const replies = [
          ...Array.from({ length: Math.min(broken, 10) }, (): TargetReply => ({ reset: true })),
          { body: 'it is there' },
        ];
        target.on(`/api/orders/${order}`, replies);
        const { model, work } = agentWith(
          [{ id: 'getOrder', name: 'get', require_approval: 'never' }],
          [asks('get', { order }), { text: 'Done' }],
        );
        work.data['retry'] = { delay: 0 };
        const { status, nodes } = await run(await create(work));
        assert.equal(status, 'succeed', JSON.stringify(nodes));
        assert.equal(target.requestsTo(`/api/orders/${order}`).length, attempts);
        const says =
          broken < attempts ? /it is there/ : /^The call failed \(.*\); whether it was carried out is unknown/;
        assert.match(answersTo(model)[0]!, says);
      }
    });

    it('are not made again after a redirect of which nothing, or a 401, has come', async () => {
      const gone = await startHttpTarget();
      await gone.close();
      target.on('/api/orders/refused', { status: 401 });
      const connection = await tokenConnection();
      for (const [to, says] of [
        [`${gone.url}/made`, /ECONNREFUSED.*; whether it was carried out is unknown/],
        [`${target.url}/api/orders/refused`, /answered with status 401/],
      ] as const) {
        const order = randomUUID();
        target.on(`/api/orders/${order}`, { status: 303, headers: { location: to } });
        const { model, work } = agentWith(
          [
            {
              id: 'changeOrder',
              name: 'change',
              require_approval: 'never',
              ...(to.startsWith(target.url) && { connection }),
            },
          ],
          [asks('change', { order, status: 'x' }), { text: 'Done' }],
        );
        work.data['retry'] = { delay: 0 };
        const { status, nodes } = await run(await create(work));
        assert.equal(status, 'succeed', JSON.stringify(nodes));
        assert.match(answersTo(model)[0]!, says);
        assert.equal(target.requestsTo(`/api/orders/${order}`).length, 1);
      }
    });

    it('are said not to be made where nothing answers, with retry_unsafe, too', async () => {
      const gone = await startHttpTarget();
      await gone.close();
      const away = await addService(documentOf({}, '1', [{ url: `${gone.url}/api` }]));
      const { model, work } = agentWith(
        [{ service: away, id: 'changeOrder', name: 'change', require_approval: 'never' }],
        [asks('change', { order: '1', status: 'x' }), { text: 'Done' }],
        { retry_unsafe: true },
      );
      work.data['retry'] = { delay: 0 };
      const { status, nodes } = await run(await create(work));
      assert.equal(status, 'succeed', JSON.stringify(nodes));
      assert.match(answersTo(model)[0]!, /ECONNREFUSED.*; it was not made/);
    });

    it('are checked and stored like nodes', async () => {
      const { work } = agentWith(
        [
          {
            id: 'changeOrder',
            values: { status: '', pin: 'secret-pin-7', other: 1 },
            action: { server: 'https://evil.example.com' },
          },
          { id: 'nothing' },
        ],
        [],
      );
      const workflowId = await create(work);
      const { errors, warnings } = await check(workflowId);
      assert.deepEqual(
        warnings.map(({ code }) => code),
        ['literal_credential'],
      );
      assert.deepEqual(Object.fromEntries(errors.map(({ path, message }) => [path, message])), {
        'tools.0.values.status': 'Field required',
        'tools.0.values.other': 'Extra inputs are not permitted',
        'tools.1.id': 'The service has no such action.',
      });
      const [tool] = inDrawing(await stored(workflowId), work).tools!;
      assert.equal(tool!.action!['server'], `${target.url}/api`);
      assert.equal((tool!['values'] as Data)['pin'], '********');
    });
  });
});
