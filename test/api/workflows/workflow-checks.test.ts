import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { nodeDefinitions } from '../../../graph/nodes/registry.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain, condition, drawing, http, inRow, link, llm, node, trigger } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';
import type { Workflow } from '../bodies.js';

interface Check {
  status: number;
  data: { id: null; status: string; data: Record<string, { result: Record<string, string>[] }> | null };
  is_valid: boolean;
  errors: { node_id: string | null; path: string; message: string }[];
  warnings: { node_id: string; code: string; message: string }[];
}

describe('input-fields, get_nodes and check_workflow', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let project: number;

  before(async () => {
    ({ api } = await createAccount(await sharedStack()));
    project = await api.createProject();
  });

  const createOne = async (data: unknown): Promise<Workflow> =>
    (await api.post<Workflow>('/workflows/', { body: { project, title: 'W', data } })).body;

  it('input-fields are those of the start node, also of a half drawing', async () => {
    const fields = [{ id: 'topic', title: 'Topic', type: 'text', tooltip: 't', input_requirements: true }];
    const { id } = await createOne({ nodes: [trigger(fields)] });
    assert.deepEqual((await api.get(`/workflows/${id}/input-fields/`)).body, fields);
    const empty = await createOne({});
    assert.deepEqual((await api.get(`/workflows/${empty.id}/input-fields/`)).body, []);
  });

  it('a field comes back with every property that it was given, the options of a select too', async () => {
    const fields = [
      {
        id: 'tone',
        title: 'Tone',
        type: 'select',
        input_requirements: false,
        placeholder: 'pick one',
        tooltip: 'how it sounds',
        default_value: 'dry',
        is_secret: false,
        options: [
          { title: 'Dry', value: 'dry', is_default: true },
          { title: 'Warm', value: 'warm', is_default: false },
        ],
      },
      { id: 'count', type: 'number', default_value: '3' },
    ];
    const { id } = await createOne(drawing([trigger(fields)]));
    assert.deepEqual((await api.get(`/workflows/${id}/input-fields/`)).body, fields);
    const run = await api.run(id);
    await api.pollToEnd(run.data.id);
    const record = await api.history(id, run.data.id);
    assert.deepEqual([record['input_fields'], record['input_data']], [fields, { tone: 'dry', count: '3' }]);
  });

  it('get_nodes describes every kind with JSON Schemas', async () => {
    type Described = Record<'node_type' | 'type' | 'schema' | 'output_schema', unknown>;
    const { status, body } = await api.get<Described[]>('/workflows/get_nodes/');
    assert.equal(status, 200);
    assert.deepEqual(body.map((described) => [described.node_type, described.type]).slice(0, 4), [
      ['TriggerNode', 'trigger-node'],
      ['ConditionNode', 'if-else-node'],
      ['LLMNodeInput', 'basic-node'],
      ['HTTPNodeInput', 'http-node'],
    ]);
    const known = Object.values(nodeDefinitions).map(({ nodeType, type }) => `${nodeType} ${type}`);
    assert.deepEqual(
      body.map((described) => `${String(described.node_type)} ${String(described.type)}`).toSorted(),
      known.toSorted(),
    );
    for (const described of body) {
      for (const schema of [described.schema, described.output_schema]) {
        assert.equal((schema as { $schema: string }).$schema, 'https://json-schema.org/draft/2020-12/schema');
      }
    }
  });

  it('check_workflow passes what would run', async () => {
    const { id } = await createOne(chain(3));
    const { status, body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    const data = { id: null, status: 'succeed', data: null };
    assert.deepEqual([status, body], [200, { status: 200, data, is_valid: true, errors: [], warnings: [] }]);
  });

  it('check_workflow names a file that the project does not have, as a run would', async () => {
    const [file, unlinked] = [randomUUID(), randomUUID()];
    const call = http('http://127.0.0.1:1/', { method: 'PUT', body: { $file: { file_id: file } } });
    const apart = http('http://127.0.0.1:1/', { method: 'PUT', body: { $file: { file_id: unlinked } } });
    const data = drawing(inRow(trigger(), call));
    const { id } = await createOne({ ...data, nodes: [...data.nodes, apart] });
    const { body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    const error = { path: 'body.$file', message: 'The project has no such file' };
    assert.deepEqual([body.is_valid, body.errors], [false, [{ node_id: call.id, ...error }]]);
    const warning = body.warnings.find(({ code }) => code === 'unlinked_error');
    assert.deepEqual(warning, { node_id: apart.id, code: 'unlinked_error', ...error });
    const run = await api.run(id);
    assert.deepEqual([run.status, run.data.data], [422, body.data.data]);
  });

  it('check_workflow lists the errors of all nodes at once, as a run would', async () => {
    const bad = [llm(''), http('')];
    const start = trigger();
    link(start, bad);
    const { id } = await createOne(drawing([start, ...bad]));
    const { body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    assert.deepEqual([body.status, body.data.status, body.is_valid], [422, 'failed', false]);
    assert.deepEqual(body.errors, [
      { node_id: bad[0]!.id, path: 'messages.0.message', message: 'String should have at least 1 character' },
      { node_id: bad[1]!.id, path: 'url', message: 'String should have at least 1 character' },
    ]);
    assert.deepEqual(Object.keys(body.data.data ?? {}).toSorted(), bad.map((one) => one.id).toSorted());
  });

  it('check_workflow names structural errors', async () => {
    const { id } = await createOne({ nodes: [] });
    const { body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    assert.deepEqual([body.status, body.data.data, body.is_valid], [400, null, false]);
    assert.ok(body.errors.length > 0 && body.errors.every(({ message }) => message.endsWith('.')));
  });

  it('check_workflow warns of links that disagree, variables that are empty and nodes that do not run', async () => {
    const start = trigger();
    const compare = condition('{{ input.x }}', '==', '{{ 00000000-0000-4000-8000-000000000000.result.content }}');
    link(start, compare);
    const lonely = node('condition', { condition: { left: '1', operator: '==', right: '1' } });
    const drawn = drawing([start, compare, lonely]);
    drawn.edges = [{ id: 'e', source: start.id, target: lonely.id }];
    const { id } = await createOne(drawn);
    const { body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    assert.equal(body.is_valid, true);
    const codes = body.warnings.map(({ node_id: nodeId, code }) => [nodeId, code]);
    assert.deepEqual(codes, [
      [start.id, 'links_disagree'],
      [compare.id, 'unknown_variable'],
      [lonely.id, 'unreachable_node'],
    ]);
  });
});
