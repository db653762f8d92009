// Actions of services (operations of an OpenAPI document), as assistants find and add them (docs/use/services.md).
import assert from 'node:assert/strict';
import { describeAction } from '../../../api/build/action-tools.js';
import type { ToolContext } from '../../../api/build/tool.js';
import type { JsonObject } from '../../../graph/json.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, type Account } from '../accounts.js';
import { connectAssistant, type Assistant, type Edited } from './assistant.js';

interface Found {
  items: { id: string; action?: { service: string; id: string }; title: string }[];
  total: number;
}

interface Described {
  kind: string;
  schema: { properties: { values: { properties: JsonObject } } };
  needs: string[];
  example: { add: JsonObject }[];
}

const DOCUMENT = {
  openapi: '3.0.0',
  info: { title: 'Tills', version: '1' },
  servers: [{ url: 'https://tills.example.com' }],
  paths: {
    '/tills/{till}/close': {
      post: {
        operationId: 'closeTill',
        summary: 'Close a till',
        parameters: [
          { name: 'till', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'pin', in: 'query', schema: { type: 'string', format: 'password' } },
        ],
        responses: { 200: { description: 'ok' } },
      },
    },
  },
};

describe('actions of services for assistants', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let assistant: Assistant;
  let project: number;
  let service: string;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    project = await account.api.createProject();
    const made = await account.api.post<{ id: string }>(`/projects/${project}/services/`, {
      body: { openapi: DOCUMENT },
    });
    service = made.body.id;
    assistant = await connectAssistant(stack.apiUrl, account.apiKey);
  });
  after(() => assistant.close());

  const add = (action: object, data: object = {}) => [
    { add: { id: 'start', kind: 'trigger-node', data: { input_fields: [{ id: 'till', type: 'text' }] } } },
    { add: { id: 'close', action, data, after: 'start' } },
  ];

  it('are found: those of the catalogue, and with a project those of its own services', async () => {
    const catalogue = await assistant.use<Found>('find_nodes', { query: 'slack message' });
    assert.ok(catalogue.items.some(({ action }) => action?.service === 'slack'));
    const closing = { service, id: 'closeTill' };
    const own = await assistant.use<Found>('find_nodes', { query: 'close till', project });
    assert.deepEqual(
      own.items.map(({ action }) => action),
      [closing],
    );
    const without = await assistant.use<Found>('find_nodes', { query: 'closeTill' });
    assert.equal(
      without.items.some(({ action }) => action?.id === 'closeTill'),
      false,
    );
  });

  it('are described with their fields, and with an example that passes the check', async () => {
    const described = await assistant.use<Described>('describe_node', { service, action: 'closeTill', project });
    assert.equal(described.kind, 'http-node');
    assert.deepEqual(described.schema.properties.values.properties['till'], { type: 'string' });
    assert.deepEqual(described.needs, ['connection']);
    const drawn = await assistant.use<Edited>('edit_workflow', {
      project,
      title: 'Example',
      changes: described.example,
    });
    assert.deepEqual(drawn.check.errors, []);
    assert.match(await assistant.refused('describe_node', { service, action: 'none' }), /no such action/);
    assert.match(await assistant.refused('describe_node', { service }), /name both/);
  });

  it('accept no literal credential: the document of the service marks the fields that hold one', async () => {
    const [canary, action] = ['literal-of-a-till', { service, id: 'closeTill' }];
    const literal = { values: { till: '1', pin: canary } };
    const agent = { tools: [{ type: 'action', ...action, ...literal }], messages: [], settings: {} };
    const tool = [add({ service, id: 'closeTill' })[0], { add: { id: 'clerk', kind: 'agent-node', data: agent } }];
    for (const changes of [add(action, literal), tool]) {
      const refusal = await assistant.refused('edit_workflow', { project, title: 'Literal', changes });
      assert.match(refusal, /"pin": .*connection.* Nothing was changed\.$/);
      assert.doesNotMatch(refusal, new RegExp(canary));
    }
    const named = add(action, { values: { till: '1', pin: '{{ input.till }}' } });
    await assistant.use('edit_workflow', { project, title: 'Named', changes: named });
  });

  it('are added by name, without the facts of the service; services of other projects are unknown', async () => {
    const data = { values: { till: '{{ input.till }}' } };
    const changes = add({ service, id: 'closeTill' }, data);
    const { id, check } = await assistant.use<Edited>('edit_workflow', { project, title: 'Close', changes });
    assert.deepEqual(check.errors, []);
    const { nodes } = await assistant.use<{ nodes: JsonObject[] }>('get_workflow', { id });
    assert.deepEqual(nodes[1], {
      id: 'close',
      kind: 'http-node',
      label: 'close',
      data: { ...data, action: { service, id: 'closeTill' } },
      next: [],
    });
    const missing = await assistant.use<Edited>('edit_workflow', {
      id,
      changes: [{ set: { node: 'close', path: '/values', value: {} } }],
    });
    assert.match(JSON.stringify(missing.check.errors), /till/);
    const other = await account.api.createProject();
    const refused = await assistant.refused('edit_workflow', { project: other, title: 'Close', changes });
    assert.match(refused, /changes\[1\]: There is no action "closeTill"/);
  });
});

describe('long schemas of actions', () => {
  interface Cut {
    description?: string;
    properties: Record<string, { type?: string; description?: string; enum?: string[]; examples?: string[] }>;
    required?: string[];
  }

  async function valuesOf(properties: JsonObject, required: string[], result: JsonObject | null = null) {
    const action = {
      id: 'long',
      title: 'Long',
      description: 'Is long.',
      server: 'https://long.example.com',
      has_side_effects: false,
      fields: { type: 'object', properties, required },
      result,
    };
    const context = { calls: { json: () => Promise.resolve(action) } } as unknown as ToolContext;
    const asked = { service: 'own', action: 'long', project: undefined };
    const { schema, result: answer, ...rest } = await describeAction(context, asked);
    assert.ok(Buffer.byteLength(JSON.stringify({ schema, answer, ...rest })) <= 25 * 1024);
    const { values } = schema.properties;
    return { values: values as unknown as Cut, json: answer.properties.json as unknown as Cut };
  }

  const nested = (index: number): JsonObject => ({
    type: 'object',
    description: `Field ${index}. ${'It has a long description. '.repeat(20)}`,
    'x-in': 'body',
    properties: { inner: { type: 'string', enum: Array.from({ length: 50 }, (_, at) => `choice-${at}`) } },
  });
  const fields = (count: number, of: (index: number) => JsonObject): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, of(index)]));

  it('that are short enough are not cut', async () => {
    const short = { a: { type: 'string', description: 'A.', 'x-in': 'query' } };
    const { values, json } = await valuesOf(short, ['a']);
    assert.deepEqual(values.properties, { a: { type: 'string', description: 'A.' } });
    assert.equal(values.description, 'By field of the action; each value may hold variables');
    assert.deepEqual(json, {});
  });

  for (const count of [20, 60, 200]) {
    it(`keep the names and types of ${count} fields and which are required, and say that they are cut`, async () => {
      const { values, json } = await valuesOf(fields(count, nested), ['field_3', `field_${count - 1}`], {
        type: 'object',
        properties: fields(count, nested),
      });
      for (const cut of [values, json]) {
        assert.deepEqual(Object.keys(cut.properties), Object.keys(fields(count, nested)));
        assert.deepEqual(new Set(Object.values(cut.properties).map(({ type }) => type)), new Set(['object']));
        assert.match(cut.description!, /Cut: /);
      }
      assert.deepEqual(values.required, ['field_3', `field_${count - 1}`]);
    });
  }

  it('call a part of many choices examples, because others are valid, too', async () => {
    const choices = Array.from({ length: 100 }, (_, at) => `choice-${at}-${'x'.repeat(50)}`);
    const { values } = await valuesOf({ a: { type: 'string', enum: choices }, b: nested(1), c: nested(2) }, []);
    const { type, enum: all, examples } = values.properties['a']!;
    assert.deepEqual([type, all, examples], ['string', undefined, choices.slice(0, 20)]);
    const { c } = values.properties;
    assert.match(c!.description!, /^Field 2\. .*\.\.\.$/);
  });

  it('with more fields than fit keep the required ones, and say how many are missing', async () => {
    const { values } = await valuesOf(fields(900, nested), ['field_899']);
    const kept = Object.keys(values.properties);
    assert.ok(kept.length > 150 && kept.includes('field_899'), String(kept.length));
    assert.ok(values.description!.endsWith(`and ${900 - kept.length} of 900 fields`), values.description);
    assert.deepEqual(values.required, ['field_899']);
  });
});
