// Attacks the service with OpenAPI documents, their addresses, and values for their actions.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createDatabase } from '../../../db/core/client.js';
import { findActionsOf } from '../../../db/services/services-repository.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, type Account } from '../accounts.js';

interface Made {
  id: string;
  name: string;
  action_count: number;
  warnings: { operation: string; message: string }[];
}
type Data = Record<string, unknown>;
type Refused = Record<string, string[]>;

const ok = { responses: {} };

describe('services of attackers', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;
  let project: number;
  let path: string;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    ({ api } = account);
    project = await api.createProject();
    path = `/projects/${project}/services/`;
  });
  after(() => target.close());

  const documentOf = (paths: object, more: object = {}) => ({
    openapi: '3.0.3',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: `${target.url}/api` }],
    paths,
    ...more,
  });
  const post = <T = Made>(openapi: unknown, of: ApiClient = api, at = path) => of.post<T>(at, { body: { openapi } });
  async function make(openapi: unknown): Promise<Made> {
    const made = await post(openapi);
    assert.equal(made.status, 201, JSON.stringify(made.body).slice(0, 1000));
    return made.body;
  }
  async function runOf(...nodes: DrawingNode[]) {
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), ...nodes])));
    return { workflowId, run: (input: object = {}) => runIt(workflowId, input) };
  }
  async function runIt(workflowId: number, input: object) {
    const started = await api.run(workflowId, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    return (await api.pollToEnd(started.data.id)).data;
  }

  it('with large actions make no drawing larger than the limit, and a draft that was read can be stored', async () => {
    const parameters = Array.from({ length: 40 }, (_, index) => ({
      name: `field${index}`,
      in: 'query',
      description: 'd'.repeat(400),
      schema: { type: 'string' },
    }));
    const { id: service } = await make(documentOf({ '/much': { get: { operationId: 'much', parameters, ...ok } } }));
    const nodesOf = (count: number) =>
      Array.from({ length: count }, () => node('http', { action: { service, id: 'much' }, values: {} }));
    const workflowId = await api.createWorkflow(project, drawing([trigger()]));
    const draft = `/workflows/${workflowId}/draft/`;
    const put = (data: unknown) => api.put<{ data: Data }>(draft, { body: { data, base_version: 1 } });
    const kept = await put(drawing([trigger(), ...nodesOf(80)]));
    assert.equal(kept.status, 200);
    assert.ok(JSON.stringify(kept.body.data).length > 1024 * 1024);
    assert.equal((await put(kept.body.data)).status, 200);
    for (const refused of [
      await put(drawing([trigger(), ...nodesOf(600)])),
      await put(drawing([trigger(), ...nodesOf(3_000)])),
      await api.patch(`/workflows/${workflowId}/`, { body: { data: drawing([trigger(), ...nodesOf(600)]) } }),
    ]) {
      assert.equal(refused.status, 413, JSON.stringify(refused.body).slice(0, 500));
    }
  });

  it('with many large actions are read from the database up to a limit of bytes', async () => {
    const description = 'd'.repeat(400);
    const parameters = Array.from({ length: 40 }, (_, at) => ({
      name: `f${at}`,
      in: 'query',
      description,
      schema: {},
    }));
    const ids = Array.from({ length: 10 }, (_, at) => `much${at}`);
    const paths = ids.map((operationId) => [`/${operationId}`, { get: { operationId, parameters, ...ok } }]);
    const { id: service } = await make(documentOf(Object.fromEntries(paths)));
    const names = ids.map((id) => ({ service, id }));
    const options = { url: stack.stack.database_url, poolMax: 1, applicationName: 'test', onError: () => undefined };
    const db = createDatabase(options);
    try {
      const [some, all] = [
        await findActionsOf(db, project, names, 40_000),
        await findActionsOf(db, project, names, 4e6),
      ];
      const bytes = some.reduce((sum, { fields }) => sum + JSON.stringify(fields).length, 0);
      assert.ok(some.length < 5 && bytes > 40_000, `${some.length} actions of ${bytes} bytes`);
      assert.equal(all.length, names.length);
    } finally {
      await db.destroy();
    }
  });

  it('that an earlier build stored with larger actions are read without them, and those that fit are all compared', async () => {
    const ids = Array.from({ length: 100 }, (_, at) => `a${at}`);
    const paths = ids.map((operationId) => [`/${operationId}`, { get: { operationId, ...ok } }]);
    const { id: service } = await make(documentOf(Object.fromEntries(paths)));
    const drawn = ids.map((id) => node('http', { action: { service, id }, values: {} }));
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), ...drawn])));
    const grow = (column: string, characters: number, where: string) =>
      queryDatabase(
        stack,
        `UPDATE service_actions SET ${column} = json_build_object('type', 'object', 'description', repeat('d', $2::int))
         WHERE service_id = $1 AND ${where} RETURNING id`,
        [service, characters],
      );
    const outdated = async () => {
      const { body } = await api.get<{ warnings: { code: string; message: string }[] }>(
        `/workflows/${workflowId}/check_workflow/`,
      );
      return body.warnings.filter(({ code }) => code === 'action_outdated').map(({ message }) => message);
    };
    assert.deepEqual(await outdated(), []);
    // Together these exceed what is read at once.
    await grow('fields', 190 * 1024, 'true');
    const changed = await outdated();
    assert.equal(changed.length, 100);
    assert.ok(
      changed.every((message) => message.includes('has changed since')),
      changed[0],
    );
    await grow('fields', 20_000_000, "id = 'a0'");
    await grow('result', 20_000_000, "id = 'a0'");
    assert.deepEqual(
      (await outdated()).filter((message) => message.includes('is gone')),
      ['The action "a0" is gone, so its node runs as stored.'],
    );
    const shown = await api.get<Data>(`/services/${service}/actions/a0/`);
    assert.deepEqual(
      [shown.status, shown.body['fields'], shown.body['result']],
      [200, { type: 'object', properties: {}, required: [] }, null],
    );
    const page = await api.get<{ items: Data[] }>(`/services/${service}/actions/?size=100`);
    assert.deepEqual([page.body.items.length, page.body.items[0]!['result']], [100, null]);
  });

  it('that are bombs, circles, or deeper and larger than anything, are read or refused, and the next one is read', async () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 1_000; level += 1) deep = { type: 'object', properties: { in: deep } };
    const bodyOf = (schema: object) => ({ ...ok, requestBody: { content: { 'application/json': { schema } } } });
    const circle = { A: { type: 'object', properties: { b: { $ref: '#/components/schemas/A' } } } };
    const hostile = await make(
      documentOf(
        { '/deep': { post: bodyOf(deep) }, '/circle': { post: bodyOf({ $ref: '#/components/schemas/A' }) } },
        { components: { schemas: circle } },
      ),
    );
    assert.equal(hostile.action_count, 2);
    const actions = await api.get(`/services/${hostile.id}/actions/`);
    assert.equal(actions.status, 200);
    assert.ok(JSON.stringify(actions.body).length < 100_000);
    const anchors = Array.from(
      { length: 12 },
      (_, at) => `  x${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`,
    );
    const bomb = ['openapi: 3.0.0', 'info: {title: T, version: 1}', 'x-bomb:', '  x0: &a0 [lol]', ...anchors];
    const servers = [`servers: [{url: "${target.url}"}]`, 'paths: {/a: {get: {responses: {200: {content: *a12}}}}}'];
    assert.equal((await make([...bomb, ...servers].join('\n'))).action_count, 1);
    const levels = await api.post<Refused>(path, { text: `{"openapi": ${'['.repeat(2e5)}${']'.repeat(2e5)}}` });
    assert.equal(levels.status, 400, JSON.stringify(levels.body).slice(0, 500));
    assert.equal((await make(documentOf({ '/a': { get: ok } }))).action_count, 1);
  });

  it('that hold markup and characters nobody can store give it back as text', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    const info = { title: markup, version: `${markup}\0`, description: markup };
    const made = await make(
      documentOf({ '/a': { get: { summary: markup, description: `${markup}\ud800`, ...ok } } }, { info }),
    );
    assert.equal(made.name, markup);
    const answer = await fetch(`${stack.apiUrl}/api/v1/services/${made.id}/actions/`, {
      headers: { 'x-api-key': account.apiKey },
    });
    assert.match(answer.headers.get('content-type')!, /^application\/json/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    const { items } = (await answer.json()) as { items: { title: string; description: string }[] };
    assert.deepEqual([items[0]!.title, items[0]!.description], [markup, `${markup}\uFFFD`]);
  });

  it('can be searched with any text, and no answer is a 500', async () => {
    const { id } = await make(documentOf({ '/a': { get: ok } }));
    const places = [
      `/services/?project=${project}&search=%00`,
      `/services/?search=%27%22%3B--%00`,
      `/services/?project=${project}&search=%25%5C_%5C`,
      `/services/?project=99999999999`,
      `/services/${id}/actions/?search=%00`,
      `/services/${id}/actions/%00/`,
      `/services/${id}/actions/..%2F..%2Fx/`,
      `/services/slack/actions/%00/`,
      `/services/slack/actions/?search=%00&page=1&size=100`,
      `/services/__proto__/actions/`,
      `/services/constructor/actions/toString/`,
      `/services/%00/actions/`,
      `/services/${id.toUpperCase()}/actions/`,
      `/services/${id}/actions/?page=999999999&size=100`,
    ];
    for (const place of places) {
      const { status } = await api.get(place);
      assert.ok(status < 500, `${place}: ${status}`);
    }
    assert.equal((await api.get(`/services/${id.toUpperCase()}/actions/get_a/`)).status, 200);
    const named = node('http', { action: { service: id, id: 'a\0\ud800' }, values: {} });
    const drawn = drawing(linkInRow([trigger(), named]));
    const made = await api.post('/workflows/', { body: { project, title: 'named', data: drawn } });
    assert.equal(made.status, 400, JSON.stringify(made.body));
  });

  it('that come at once wait in a short queue for each user, and that of another user is not refused', async () => {
    const other = await createAccount(stack);
    const theirs = `/projects/${await other.api.createProject()}/services/`;
    const paths = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`/p${at}`, { get: ok }]));
    const body = documentOf(paths);
    const flood = Array.from({ length: 40 }, () => post(body));
    const meanwhile = await post(documentOf({ '/a': { get: ok } }), other.api, theirs);
    assert.equal(meanwhile.status, 201, JSON.stringify(meanwhile.body));
    const answers = await Promise.all(flood);
    const statuses = new Set(answers.map(({ status }) => status));
    assert.ok(
      [...statuses].every((status) => [201, 503].includes(status)),
      [...statuses].join(),
    );
    assert.ok(statuses.has(201));
    const refused = answers.find(({ status }) => status === 503);
    assert.ok(refused !== undefined, 'the queue of the user is not limited');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    const found = await api.get<{ total: number }>(`/services/?project=${project}&search=p299`);
    assert.equal(found.status, 200);
  });

  it('at an address that accepts connections and sends nothing are a 400 in time, without details', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const answer = await post<Refused>(`https://127.0.0.1:${port}/openapi.json`);
      assert.equal(answer.status, 400);
      assert.match(answer.body['openapi']![0]!, /^The document could not be fetched: [\w.]+\.$/);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  it('are not deleted while workflows use them: the refusal names five and counts the others', async () => {
    const { id } = await make(documentOf({ '/orders': { get: { operationId: 'get', ...ok } } }));
    const drawn = drawing(linkInRow([trigger(), node('http', { action: { service: id, id: 'get' }, values: {} })]));
    const titles = Array.from({ length: 103 }, (_, index) => `Uses it ${index}`);
    for (const title of titles) {
      const { status } = await api.post('/workflows/', { body: { project, title, data: drawn } });
      assert.equal(status, 201);
    }
    const refused = await api.delete<{ code: string; detail: string }>(`${path}${id}/`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'in_use']);
    const named = titles.slice(0, 5).map((title) => `"${title}"`);
    assert.equal(refused.body.detail, `Workflows use the service: ${named.join(', ')} and 98 more.`);
    assert.equal((await api.delete(`${path}${id}/?force=true`)).status, 204);
  });

  it('are deleted while somebody draws with them: runs go on as stored, in any spelling of the id', async () => {
    const { id } = await make(documentOf({ '/orders/{o}': { get: { operationId: 'get', ...ok } } }));
    const order = randomUUID();
    const call = node('http', { action: { service: id.toUpperCase(), id: 'get' }, values: { o: order } });
    const { workflowId, run } = await runOf(call);
    assert.equal((await run()).status, 'succeed');
    assert.equal((await api.delete(`${path}${id}/`)).status, 409);
    const stored = await api.get<{ data: { nodes: { id: string; data: Data }[] } }>(`/workflows/${workflowId}/`);
    const save = (label: string) => {
      const nodes = stored.body.data.nodes.map((each) =>
        each.id === call.id ? { ...each, data: { ...each.data, label } } : each,
      );
      return api.patch(`/workflows/${workflowId}/`, { body: { data: { ...stored.body.data, nodes } } });
    };
    const all = await Promise.all([
      api.delete(`${path}${id}/?force=true`),
      api.delete(`${path}${id}/?force=true`),
      api.put(`${path}${id}/`, { body: { openapi: documentOf({ '/a': { get: ok } }) } }),
      save('one'),
      save('two'),
    ]);
    const statuses = all.map(({ status }) => status);
    assert.ok(statuses.slice(0, 2).includes(204), statuses.join());
    assert.ok(
      statuses.every((status) => [200, 204, 404, 409, 412].includes(status)),
      statuses.join(),
    );
    assert.equal((await api.get(`/services/${id}/actions/`)).status, 404);
    assert.equal((await run()).status, 'succeed');
    assert.equal(target.requestsTo(`/api/orders/${order}`).length, 2);
    assert.deepEqual(await queryDatabase(stack, 'SELECT id FROM service_actions WHERE service_id = $1', [id]), []);
  });

  describe('with values', () => {
    let service: string;

    before(async () => {
      const parameters = [
        { name: 'a', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'X-Note', in: 'header', schema: {} },
        { name: 'q', in: 'query', schema: {} },
      ];
      const schema = {
        type: 'object',
        properties: { ['__proto__']: { type: 'object' }, access_token: {}, constructor: { type: 'string' } },
      };
      const requestBody = { content: { 'application/json': { schema } } };
      ({ id: service } = await make(
        documentOf({ '/things/{a}/end': { post: { operationId: 'x', parameters, requestBody, ...ok } } }),
      ));
    });

    const call = (values: Data) => node('http', { action: { service, id: 'x' }, values });

    it('that lead elsewhere, or start another header, are not sent', async () => {
      const given = { a: '{{ input.a }}', 'X-Note': '{{ input.note }}', q: '{{ input.q }}' };
      const drawn = call(given);
      const { run } = await runOf(drawn);
      const before = target.requests.length;
      const bad: [Data, string][] = [
        [{ a: '..', note: 'n' }, 'invalid_value'],
        [{ a: '.', note: 'n' }, 'invalid_value'],
        [{ a: '', note: 'n' }, 'invalid_value'],
        [{ a: [], note: 'n' }, 'invalid_value'],
        [{ a: 'x', note: 'n\r\nX-Evil: 1' }, 'invalid_value'],
        [{ a: 'x', note: ['n', '\nX-Evil: 1'] }, 'invalid_value'],
        [{ a: 'x', note: { k: 'v\r' } }, 'invalid_value'],
        [{ a: 'x', note: 'ж' }, 'invalid_header'],
      ];
      for (const [input, code] of bad) {
        const { data } = await run(input);
        assert.equal(data![drawn.id]!.error?.code, code, JSON.stringify(input));
      }
      assert.equal(target.requests.length, before);
      for (const a of [
        '../../admin',
        '%2e%2e',
        '..\\..',
        '//evil.example.com',
        '?x=1#y',
        'a/../b',
        '\t..',
        '@evil.example.com',
      ]) {
        const ended = await run({ a, note: 'n', q: `${a}&evil=1` });
        assert.equal(ended.status, 'succeed', JSON.stringify(ended.data));
        const sent = target.requests.at(-1)!;
        assert.equal(sent.path, `/api/things/${encodeURIComponent(a)}/end`);
        assert.deepEqual(sent.query, { q: `${a}&evil=1` });
      }
    });

    it('that are credentials in a list or an object are sealed whole, and keys of prototypes pollute nothing', async () => {
      const [one, two] = [`sk-${randomUUID()}`, `sk-${randomUUID()}`];
      const values = JSON.parse(
        JSON.stringify({ a: randomUUID(), constructor: 'c', access_token: [one, { deep: two }] }).replace(
          '{',
          '{"__proto__": {"X-Note": "polluted"},',
        ),
      ) as Data;
      const drawn = call(values);
      const { workflowId, run } = await runOf(drawn);
      const places = [
        await api.get(`/workflows/${workflowId}/`),
        await api.get(`/workflows/${workflowId}/export/`),
        await api.get(`/workflows/${workflowId}/check_workflow/`),
        await api.get(`/workflows/${workflowId}/versions/`),
      ];
      const ended = await run();
      assert.equal(ended.status, 'succeed', JSON.stringify(ended.data));
      const shown = JSON.stringify([...places.map(({ body }) => body as object), ended]);
      assert.ok(!shown.includes(one) && !shown.includes(two), shown);
      const sent = target.requestsTo(`/api/things/${String(values['a'])}/end`)[0]!;
      const { constructor: name, access_token: token } = JSON.parse(sent.body) as Data;
      assert.deepEqual([name, token], ['c', [one, { deep: two }]]);
      assert.equal(sent.headers['x-note'], undefined);
    });
  });
});
