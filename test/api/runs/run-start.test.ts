import assert from 'node:assert/strict';
import type { ApiClient, Envelope, SendOptions } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, llm, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';

interface Rejection {
  status: number;
  data: {
    id: string | null;
    status: string;
    data: Record<string, { id: string; status: string; result: Record<string, string>[] }> | null;
    errors?: { code: string; node_id?: string }[];
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('run start', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    project = await api.createProject();
  });

  const start = async (data: object, options: SendOptions = {}): Promise<Envelope & Rejection> => {
    const id = await api.createWorkflow(project, data);
    const { status, body } = await api.post<Envelope & Rejection>(`/workflows/${id}/run/`, options);
    assert.equal(status, 200);
    return body;
  };

  /** Returns the input of the trigger, which is the result of the run's first node. */
  const inputOf = async (options: SendOptions, data: Drawing = chain(1)): Promise<unknown> => {
    const { data: accepted } = await start(data, options);
    const { data: finished } = await api.pollToEnd(accepted.id);
    return JSON.parse(finished.data?.[data.start_node]?.result?.content ?? 'null');
  };

  describe('inner 201', () => {
    it('an accepted run has an id, is in queue and has no data', async () => {
      const body = await start(chain(1), { body: { any: 'thing' } });
      assert.match(body.data.id, UUID);
      assert.deepEqual(body, { status: 201, data: { id: body.data.id, status: 'in queue', data: null } });
    });

    const text = { 'content-type': 'text/plain' };
    const inputs: [title: string, options: SendOptions, input: unknown][] = [
      ['a flat object', { text: '{"a":1,"b":{"c":[true,null]}}' }, { a: 1, b: { c: [true, null] } }],
      ['an object sent as plain text', { text: '{"a":1}', headers: text }, { a: 1 }],
      ['an object sent as a form', { text: '{"a":1}', headers: { 'content-type': 'x/y' } }, { a: 1 }],
      ['an array', { text: '[1,{"a":2}]' }, [1, { a: 2 }]],
      ['a JSON string', { text: '"quoted"' }, { __raw_input__: 'quoted' }],
      ['a JSON number', { text: '17' }, { __raw_input__: '17' }],
      ['a JSON true', { text: 'true' }, { __raw_input__: 'true' }],
      ['null', { text: 'null' }, {}],
      ['an empty body', {}, {}],
      ['an empty text', { text: '', headers: text }, {}],
      ['plain text', { text: 'just words', headers: text }, { __raw_input__: 'just words' }],
      ['invalid JSON', { text: '{"a":' }, { __raw_input__: '{"a":' }],
      ['text full of brackets', { text: `say ${'['.repeat(500)}` }, { __raw_input__: `say ${'['.repeat(500)}` }],
      ['a wrapper that is not one here', { text: '{"input_data":{"a":1}}' }, { input_data: { a: 1 } }],
      [
        'keys of the prototype',
        { text: '{"__proto__":{"a":1},"toString":1}' },
        JSON.parse('{"__proto__":{"a":1},"toString":1}'),
      ],
    ];
    for (const [title, options, input] of inputs) {
      it(`the input of ${title} reaches the trigger`, async () => {
        assert.deepEqual(await inputOf(options), input);
      });
    }

    it('defaults fill what the input lacks, and what it has wins', async () => {
      const fields = [
        { id: 'a', type: 'text', default_value: 'standard' },
        { id: 'b', type: 'text', default_value: 'kept out', input_requirements: true },
        { id: 'c', type: 'text' },
      ];
      assert.deepEqual(await inputOf({ body: { b: 'given' } }, drawing([trigger(fields)])), {
        b: 'given',
        a: 'standard',
      });
    });

    it('an input of 9 MiB is taken', async () => {
      const long = 'x'.repeat(9 * 1024 * 1024);
      const body = await start(chain(1), { body: { long } });
      assert.equal(body.status, 201);
      const { data } = await api.pollToEnd(body.data.id);
      assert.equal(data.status, 'succeed');
    });

    it('identical graphs of different workflows are stored once', async () => {
      const data = chain(1);
      const runs = await Promise.all([start(data), start(data)]);
      const rows = await queryDatabase(stack, 'SELECT DISTINCT snapshot_hash FROM runs WHERE id = ANY ($1)', [
        runs.map((run) => run.data.id),
      ]);
      assert.equal(rows.length, 1);
    });
  });

  describe('inner 422', () => {
    it('every field error of every reachable node, kept as a Draft run that polls the same', async () => {
      const first = trigger([{ id: 'must', type: 'text', input_requirements: true }]);
      const bad = [llm(''), http('', { method: 'FETCH' })];
      const unreachable = llm('');
      link(first, bad);
      const id = await api.createWorkflow(project, drawing([first, ...bad, unreachable]));
      const { status, body } = await api.post<Rejection>(`/workflows/${id}/run/`);
      assert.equal(status, 200);
      assert.deepEqual([body.status, body.data.status], [422, 'failed']);
      const entries = body.data.data ?? {};
      assert.deepEqual(Object.keys(entries).toSorted(), [first, ...bad].map((one) => one.id).toSorted());
      assert.deepEqual(entries[first.id], { id: first.id, status: 'failed', result: [{ must: 'Field required' }] });
      assert.deepEqual(entries[bad[0]!.id]?.result, [
        { 'messages.0.message': 'String should have at least 1 character' },
      ]);
      assert.deepEqual(entries[bad[1]!.id]?.result.flatMap(Object.keys), ['url', 'method']);

      const { status: inner, data: polled } = await api.poll(body.data.id ?? '');
      assert.deepEqual([inner, polled], [200, { ...body.data, version: polled.version }]);
      const record = await api.history(id, body.data.id ?? '');
      assert.deepEqual([record.status, record.duration, record.cost], ['Draft', null, { USD: '0', EUR: '0' }]);
      assert.deepEqual(record['result'], body.data.data);
    });

    it('a value that its field does not take, by its place, and what no field declares stays in the input', async () => {
      const fields = [
        { id: 'count', type: 'number' },
        { id: 'size', type: 'select', options: [{ value: 'S' }] },
      ];
      const begin = trigger(fields);
      const data = drawing([begin]);
      const refused = await start(data, { body: { count: 'many', size: 'M', other: 1 } });
      assert.equal(refused.status, 422);
      assert.deepEqual(refused.data.data![begin.id]!.result, [
        { count: 'Input should be a valid number' },
        { size: "Input should be 'S'" },
      ]);
      const given = { count: '12', size: 'S', other: 1 };
      assert.deepEqual(await inputOf({ body: given }, data), given);
    });

    it('a start node may be called like a property of every object', async () => {
      for (const id of ['constructor', '__proto__', 'toString']) {
        const node = trigger([{ id: 'must', type: 'text', input_requirements: true }], { id });
        const data = { nodes: [{ ...node, id }], edges: [], start_node: id };
        assert.equal((await start(data, { text: '{}' })).status, 422, id);
      }
    });

    it('a required field that is empty fails even where the input is an array', async () => {
      const data = drawing([trigger([{ id: 'must', type: 'text', input_requirements: true }])]);
      for (const text of ['{"must":""}', '{"must":null}', '[1]']) {
        assert.equal((await start(data, { text })).status, 422, text);
      }
    });
  });

  describe('inner 400', () => {
    const broken: [title: string, change: (data: Drawing) => unknown, code: string][] = [
      ['no nodes', () => ({}), 'no_nodes'],
      ['no start node', (data) => ({ ...data, start_node: undefined }), 'no_start_node'],
      ['an unknown type', (data) => ((data.nodes[0]!.type = 'magic-node'), data), 'unknown_node_type'],
      ['a cycle', (data) => (link(data.nodes[1]!, data.nodes[0]!), data), 'cycle'],
    ];
    for (const [title, change, code] of broken) {
      it(`a drawing with ${title} does not run and leaves no run`, async () => {
        const data = chain(2, () => llm('x'));
        const id = await api.createWorkflow(project, change(data) as object);
        const { status, body } = await api.post<Rejection>(`/workflows/${id}/run/`);
        assert.equal(status, 200);
        assert.deepEqual([body.status, body.data.id, body.data.status, body.data.data], [400, null, 'failed', null]);
        assert.ok(
          body.data.errors?.some((error) => error.code === code),
          JSON.stringify(body),
        );
        assert.equal((await api.get<{ total: number }>(`/workflows/${id}/history/`)).body.total, 0);
      });
    }
  });

  describe('outer 400, 413 and 415', () => {
    let id: number;
    before(async () => {
      id = await api.createWorkflow(project, chain(1));
    });
    const send = (body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${stack.apiUrl}/api/v1/workflows/${id}/run/`, {
        method: 'POST',
        headers: { 'x-api-key': account.apiKey, ...headers },
        body,
      });

    it('text that cannot be stored is refused', async () => {
      const hostile = [Buffer.from([0xff, 0xfe, 0x41]), 'a\0b', '{"a":"\\u0000"}', '{"a":"\\udfff"}', '['.repeat(1000)];
      for (const text of hostile) {
        const response = await api.post<{ code: string }>(`/workflows/${id}/run/`, { text: text as string });
        assert.deepEqual([response.status, response.body.code], [400, 'parse_error'], String(text).slice(0, 20));
      }
    });

    it('a body of more than 10 MiB is a 413 that the client can read, with and without an announced length', async () => {
      const tooMuch = Buffer.alloc(10 * 1024 * 1024 + 1, 'x');
      const { status, body } = await api.post<{ code: string }>(`/workflows/${id}/run/`, { text: tooMuch.toString() });
      assert.deepEqual([status, body.code], [413, 'body_too_large']);
      const pieces = new Blob([tooMuch]).stream();
      const chunked = await fetch(`${stack.apiUrl}/api/v1/workflows/${id}/run/`, {
        method: 'POST',
        headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
        body: pieces,
        duplex: 'half',
      });
      const refused = (await chunked.json()) as { code: string };
      assert.deepEqual([chunked.status, refused.code], [413, 'body_too_large']);
    });

    it('a compressed body is a 415', async () => {
      const response = await send('{}', { 'content-encoding': 'gzip' });
      assert.deepEqual(
        [response.status, ((await response.json()) as { code: string }).code],
        [415, 'unsupported_media_type'],
      );
    });
  });
});
