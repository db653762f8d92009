// The abilities of assistants that build workflows (docs/use/assistants.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { exampleOf } from '../../../graph/building/example.js';
import { kinds, type NodeKind } from '../../../graph/kinds.js';
import { nodeDefinitions } from '../../../graph/nodes/registry.js';
import { renderText, type NodeOutput } from '../../../graph/template.js';
import { ownValue, type JsonObject } from '../../../graph/json.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, type Account } from '../accounts.js';
import { connectAssistant, type Assistant, type Edited, type ShownRun } from './assistant.js';

const TOOLS = [
  'ask_for_connection',
  'describe_node',
  'edit_workflow',
  'find_nodes',
  'find_workflows',
  'get_workflow',
  'list_connections',
  'read_run',
  'save_workflow',
  'test_workflow',
  'variables',
];

describe('an assistant', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let project: number;
  let assistant: Assistant;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    project = await account.api.createProject();
    assistant = await connectAssistant(stack.apiUrl, account.apiKey);
  });
  after(async () => {
    await assistant.close();
    await target.close();
  });

  const make = (changes: unknown[], title = 'Built'): Promise<Edited> =>
    assistant.use<Edited>('edit_workflow', { project, title, changes });
  const start = { add: { id: 'start', kind: 'trigger-node', data: { input_fields: [{ id: 'city', type: 'text' }] } } };

  it('is given the tools, within the limits on the size of their descriptions and of the instructions', () => {
    assert.deepEqual(assistant.tools.map(({ name }) => name).toSorted(), TOOLS);
    const described = assistant.tools.map(({ description = '' }) => Buffer.byteLength(description));
    assert.ok(described.reduce((sum, bytes) => sum + bytes, 0) <= 12 * 1024);
    assert.ok(Buffer.byteLength(assistant.instructions) <= 6 * 1024, String(Buffer.byteLength(assistant.instructions)));
    for (const { name, outputSchema, annotations } of assistant.tools) {
      assert.ok(outputSchema && annotations, name);
      const isReading = !['edit_workflow', 'save_workflow', 'test_workflow'].includes(name);
      assert.equal(annotations.readOnlyHint, isReading, name);
    }
  });

  it('builds the first picture of the README, tests each node and saves it, in 12 calls and 60 KB', async () => {
    const own = await connectAssistant(stack.apiUrl, account.apiKey);
    const { items } = await own.use<{ items: { kind?: string }[] }>('find_nodes', { query: 'http request' });
    assert.equal(items[0]?.kind, 'http-node');
    await own.use('describe_node', { kind: 'http-node' });
    await own.use('describe_node', { kind: 'basic-node' });
    await own.use('describe_node', { kind: 'if-else-node' });
    const get = (id: string) => ({
      add: { id, kind: 'http-node', data: { method: 'GET', url: `${target.url}/echo?of=${id}` }, after: 'start' },
    });
    const { id, draft, check } = await own.use<Edited>('edit_workflow', {
      project,
      title: 'First picture',
      changes: [
        start,
        get('one'),
        get('two'),
        {
          add: {
            id: 'ask',
            kind: 'basic-node',
            data: {
              messages: [{ role: 'user', message: '{{ one.result.content }} or {{ two.result.content }}?' }],
              settings: { model_name: 'test-model' },
            },
            after: 'one',
          },
        },
        { link: { from: 'two', to: 'ask' } },
        {
          add: {
            id: 'is_long',
            kind: 'if-else-node',
            data: { condition: { left: '{{ ask.result.content }}', operator: 'is_not_empty', right: '' } },
            after: 'ask',
          },
        },
        {
          add: {
            id: 'end',
            kind: 'output-node',
            data: { value: '{{ ask.result.content }}' },
            after: { node: 'is_long', exit: 'condition-true' },
          },
        },
      ],
    });
    assert.deepEqual([check.is_valid, check.warning_count], [true, 0], JSON.stringify(check));
    const { items: variables } = await own.use<{ items: { name: string }[] }>('variables', { id, node: 'ask' });
    assert.ok(variables.some(({ name }) => name === 'one.result.content'));
    for (const [mode, node] of [
      ['node', 'one'],
      ['node', 'two'],
      ['up_to', 'ask'],
      ['from', 'start'],
    ] as const) {
      const run = await own.use<ShownRun>('test_workflow', {
        id,
        mode,
        node,
        input: { city: 'Graz' },
        max_cost: '1.00',
      });
      assert.equal(run.status, 'succeed', JSON.stringify(run));
      assert.equal(run.nodes.find((one) => one.id === node)?.status, 'succeed');
    }
    const saved = await own.use<{ version: number }>('save_workflow', { id, base: draft });
    assert.equal(saved.version, 2);
    assert.ok(own.calls <= 12, `${own.calls} calls`);
    assert.ok(own.bytes <= 60 * 1024, `${own.bytes} bytes`);
    const { data: run } = await account.api.run(id, { city: 'Graz' });
    assert.equal((await account.api.pollToEnd(run.id)).data.status, 'succeed');
    await own.close();
  });

  for (const kind of Object.keys(kinds) as NodeKind[]) {
    it(`gets a description of ${kind} with an example that passes the check unchanged`, async () => {
      const { type } = nodeDefinitions[kind];
      await make([start]);
      const described = await assistant.use<{ kind: string; example: unknown[] | null }>('describe_node', {
        kind: type,
        project,
      });
      assert.equal(described.kind, type);
      assert.equal(described.example?.length, exampleOf(kind, { model: 'x', workflowId: 1 })?.length);
      const { check } = await make(described.example!, `Example of ${kind}`);
      assert.deepEqual(check.errors, []);
    });
  }

  it('finds workflows by words and by tag, and none of other users', async () => {
    const { id } = await make([start], 'Weather of Graz');
    await account.api.patch(`/workflows/${id}/`, { body: { tags: ['daily'] } });
    for (const asked of [{ query: 'of Graz' }, { tag: 'daily' }, { project, tag: 'daily' }]) {
      const { items } = await assistant.use<{ items: JsonObject[] }>('find_workflows', asked);
      assert.deepEqual(
        items.map((item) => [item['id'], item['title'], item['tags']]),
        [[id, 'Weather of Graz', ['daily']]],
      );
    }
    const stranger = await createAccount(stack);
    const other = await connectAssistant(stack.apiUrl, stranger.apiKey);
    assert.deepEqual((await other.use<{ items: [] }>('find_workflows', { query: 'of Graz' })).items, []);
    await other.close();
  });

  it('reads a long drawing in parts, and a long value of a node by offsets', async () => {
    const code = Array.from({ length: 3_000 }, (_, line) => `// line ${line}`).join('\n');
    const nodes = Array.from({ length: 150 }, (_, index) => ({
      add: { id: `n${index}`, kind: 'set-node', data: { value: 'x'.repeat(300) }, after: 'start' },
    }));
    const { id, draft } = await make([
      start,
      { add: { id: 'long', kind: 'code-node', data: { code }, after: 'start' } },
      ...nodes,
    ]);
    interface Read {
      draft: string;
      nodes: { id: string; is_cut?: true; data: JsonObject }[];
      next_after?: string;
      part?: { text: string; next_offset?: number };
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const part: Read = await assistant.use<Read>('get_workflow', { id, ...(after !== undefined && { after }) });
      assert.equal(part.draft, draft);
      seen.push(...part.nodes.map((node) => node.id));
      after = part.next_after;
    } while (after !== undefined);
    assert.deepEqual(seen, ['start', 'long', ...nodes.map(({ add }) => add.id)]);
    const { nodes: few } = await assistant.use<Read>('get_workflow', { id, nodes: ['long', 'n7'] });
    assert.deepEqual(
      few.map((node) => [node.id, node.is_cut]),
      [
        ['long', true],
        ['n7', undefined],
      ],
    );
    let text = '';
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const { part }: Read = await assistant.use<Read>('get_workflow', { id, nodes: ['long'], path: '/code', offset });
      text += part!.text;
      offset = part!.next_offset;
    }
    assert.equal(text, code);
  });

  it('reads an earlier version, and the draft only of its own user', async () => {
    const { id, draft } = await make([start]);
    await assistant.use('save_workflow', { id, base: draft });
    await assistant.use('edit_workflow', { id, changes: [{ rename: { node: 'start', label: 'Mine' } }] });
    const read = (version?: number) =>
      assistant.use<{ draft: string | null; nodes: { label: string }[] }>('get_workflow', {
        id,
        ...(version && { version }),
      });
    const [now, second, first] = [await read(), await read(2), await read(1)];
    assert.deepEqual([now.nodes[0]?.label, second.nodes[0]?.label, first.nodes.length], ['Mine', 'start', 0]);
    assert.deepEqual([now.draft !== null, second.draft], [true, null]);
  });

  it('is shown the newest values of variables, those of its loop, and none of a loop body from outside', async () => {
    const { id } = await make([
      start,
      { add: { id: 'get', kind: 'http-node', data: { url: `${target.url}/echo` }, after: 'start' } },
      { add: { id: 'all', kind: 'for-each-node', data: { items: [1, 2] }, after: 'get' } },
      { add: { id: 'inside', kind: 'set-node', data: { value: 'x' }, after: { node: 'all', exit: 'body' } } },
      { add: { id: 'end', kind: 'output-node', data: { value: 'x' }, after: 'all' } },
    ]);
    await assistant.use('test_workflow', { id, mode: 'from', input: { city: 'Graz' } });
    const namesFor = async (node: string) => {
      const { items } = await assistant.use<{ items: { name: string; value: string | null }[] }>('variables', {
        id,
        node,
      });
      return new Map(items.map(({ name, value }) => [name, value]));
    };
    const inside = await namesFor('inside');
    assert.deepEqual(
      [inside.has('all.item'), inside.get('get.result.status_code'), inside.get('input.city')],
      [true, '200', 'Graz'],
    );
    const end = await namesFor('end');
    assert.deepEqual([end.has('inside.result.content'), end.has('all.result.items')], [false, true]);
    assert.ok([...end.values()].every((value) => (value ?? '').length <= 200));
  });

  interface Listed {
    items: { name: string; value: string | null }[];
  }

  it('is not shown the value of an older run for a node whose newest result is too large', async () => {
    const pathname = `/sized-${randomUUID()}`;
    const { id } = await make([
      start,
      { add: { id: 'get', kind: 'http-node', data: { url: target.url + pathname }, after: 'start' } },
      { add: { id: 'end', kind: 'output-node', data: { value: 'x' }, after: 'get' } },
    ]);
    const values: unknown[] = [];
    for (const size of [1_000, 100_000]) {
      target.on(pathname, { body: 'x'.repeat(size) });
      const { status } = await assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input: {} });
      assert.equal(status, 'succeed');
      const { items } = await assistant.use<Listed>('variables', { id, node: 'end' });
      values.push(items.find(({ name }) => name === 'get.result.content')?.value);
    }
    assert.deepEqual(values, ['x'.repeat(200), null]);
  });

  it('is shown only variables that have the values beside them', async () => {
    const { id } = await make([
      start,
      { add: { id: 'end', kind: 'output-node', data: { value: 'x' }, after: 'start' } },
    ]);
    const inside = {
      'a"b': 'quote',
      'a\\b': 'backslash',
      'a]b': 'bracket',
      'a}}b': 'braces',
      '': 'empty',
      'a b': 'space',
    };
    const input = { 'order.v1': { id: 'dot', ...inside }, ...inside };
    await assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input });
    const { items } = await assistant.use<Listed>('variables', { id, node: 'end' });
    // The values that are no JSON.
    const shown = items.filter(({ name, value }) => name.startsWith('start.') && /^\w/.test(value ?? ''));
    const output: NodeOutput = { content: '', ...input };
    const results = new Map([['start', output]]);
    for (const { name, value } of shown) assert.equal(renderText(`{{ ${name} }}`, { input, results }), value, name);
    const values = shown.map(({ value }) => String(value)).toSorted();
    assert.deepEqual(values, ['backslash', 'backslash', 'dot', 'quote', 'quote', 'space', 'space']);
  });

  it('mocks nodes with side effects unless it is told to execute them, and uses their pins', async () => {
    const before = target.requests.length;
    const sent = () => target.requests.slice(before).filter(({ path }) => path.startsWith('/order')).length;
    const { id } = await make([
      start,
      { add: { id: 'order', kind: 'http-node', data: { method: 'POST', url: `${target.url}/order` }, after: 'start' } },
      { add: { id: 'end', kind: 'output-node', data: { value: '{{ order.result.content }}' }, after: 'order' } },
    ]);
    const test = (more: JsonObject = {}) =>
      assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input: {}, ...more });
    const orderOf = ({ nodes }: ShownRun) => nodes.find((node) => node.id === 'order');
    const mocked = await test();
    assert.deepEqual([mocked.status, orderOf(mocked)?.mocked, sent()], ['succeed', true, 0]);
    await account.api.put(`/workflows/${id}/pins/order/`, { body: { result: { content: 'pinned' } } });
    for (const run of [await test(), await test({ mode: 'node', node: 'order' })]) {
      assert.deepEqual([ownValue(orderOf(run)?.result, 'content'), sent()], ['pinned', 0]);
    }
    const given = await test({ mocks: { order: { error: { code: 'boom', message: 'down' } } } });
    assert.deepEqual([given.status, orderOf(given)?.error?.code, sent()], ['failed', 'boom', 0]);
    const executed = await test({ mode: 'node', node: 'order', execute: ['order'] });
    assert.deepEqual([executed.status, orderOf(executed)?.mocked, sent()], ['succeed', undefined, 1]);
  });

  it('does not execute a loop body in which a node has a pin, and mocks nodes of any id', async () => {
    const before = target.requests.length;
    const order = { method: 'POST', url: `${target.url}/order` };
    const { id } = await make([
      start,
      { add: { id: 'each', kind: 'for-each-node', data: { items: '[1, 2]' }, after: 'start' } },
      { add: { id: 'order', kind: 'http-node', data: order, after: { node: 'each', exit: 'body' } } },
      { add: { id: '__proto__', kind: 'http-node', data: order, after: 'each' } },
    ]);
    await account.api.put(`/workflows/${id}/pins/order/`, { body: { result: { content: 'pinned' } } });
    const { status, nodes } = await assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input: {} });
    assert.deepEqual([status, nodes.find((node) => node.id === '__proto__')?.mocked], ['succeed', true]);
    assert.deepEqual(target.requests.slice(before), []);
  });

  it('gets an answer as soon as a test waits for a person, and can mock the decision', async () => {
    const { id } = await make([
      start,
      {
        add: { id: 'may', kind: 'human-node', data: { message: 'May it?', actions: [{ id: 'yes' }] }, after: 'start' },
      },
      { add: { id: 'end', kind: 'output-node', data: { value: 'done' }, after: { node: 'may', exit: 'yes' } } },
    ]);
    const run = await assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input: {} });
    assert.deepEqual([run.status, run.nodes.find((node) => node.id === 'may')?.waiting?.for], ['in progress', 'human']);
    const mocked = await assistant.use<ShownRun>('test_workflow', {
      id,
      mode: 'from',
      input: {},
      mocks: { may: { action: 'yes', values: {} } },
    });
    assert.equal(mocked.status, 'succeed');
    await account.api.post(`/workflows/${id}/history/${run.run_id}/cancel/`);
  });

  it('stops a test at max_cost', async () => {
    const { id } = await make([
      start,
      {
        add: {
          id: 'ask',
          kind: 'basic-node',
          data: { messages: [{ role: 'user', message: 'hello' }], settings: { model_name: 'test-model' } },
          after: 'start',
        },
      },
    ]);
    const run = await assistant.use<ShownRun>('test_workflow', {
      id,
      mode: 'node',
      node: 'ask',
      max_cost: '0.0000001',
    });
    assert.deepEqual(
      [run.status, run.nodes.find((node) => node.id === 'ask')?.error?.code],
      ['failed', 'budget_exceeded'],
    );
    const messageOf = ({ nodes }: ShownRun) => nodes.find((node) => node.id === 'ask')?.error?.message ?? '';
    assert.match(messageOf(run), /The test has spent 0 USD of its max_cost of 0\.0000001 USD/);
    await account.api.patch(`/workflows/${id}/`, { body: { max_run_cost: '0.00000005' } });
    const limited = { id, mode: 'node', node: 'ask', max_cost: '0.0000001' };
    assert.match(
      messageOf(await assistant.use<ShownRun>('test_workflow', limited)),
      /The run has spent 0 USD of its max_run_cost of 0\.00000005 USD/,
    );
    assert.match(
      await assistant.refused('test_workflow', { id, mode: 'node', node: 'ask', max_cost: 'cheap' }),
      /decimal/i,
    );
  });

  it('reads the rest of long results by path and offset', async () => {
    target.on('/long', { body: 'abcdefghij'.repeat(8_000) });
    const { id } = await make([
      start,
      { add: { id: 'get', kind: 'http-node', data: { url: `${target.url}/long` }, after: 'start' } },
    ]);
    const run = await assistant.use<ShownRun>('test_workflow', { id, mode: 'from', input: {} });
    const shown = run.nodes.find((node) => node.id === 'get');
    assert.deepEqual(
      [shown?.is_cut, typeof shown?.result, JSON.stringify(shown?.result).length <= 2_100],
      [true, 'string', true],
    );
    let text = '';
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const asked: JsonObject = { run_id: run.run_id, node: 'get', path: '/result/content', offset };
      const { part }: ShownRun = await assistant.use<ShownRun>('read_run', asked);
      text += part!.text;
      offset = part!.next_offset;
    }
    assert.equal(text, 'abcdefghij'.repeat(8_000));
    const entry = await assistant.use<ShownRun>('read_run', {
      run_id: run.run_id,
      node: 'get',
      path: '/result/status_code',
    });
    assert.equal(entry.part?.value, 200);
  });

  it('lists connections without their secrets, and gets the address at which a missing one is made', async () => {
    const secret = 'sk-very-secret-1234567890';
    const body = {
      name: 'Mine',
      kind: 'bearer',
      origins: ['https://api.airtable.com'],
      settings: {},
      secrets: { token: secret },
    };
    const made = await account.api.post(`/projects/${project}/connections/`, { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { items } = await assistant.use<{ items: JsonObject[] }>('list_connections', { project });
    assert.deepEqual(
      items.map(({ name, service, status, origins }) => ({ name, service, status, origins })),
      [{ name: 'Mine', service: 'airtable', status: 'ready', origins: ['https://api.airtable.com'] }],
    );
    const asked = await assistant.use('ask_for_connection', {
      project,
      service: 'Slack',
      reason: 'To post.',
    });
    assert.match(String(asked['url']), new RegExp(`/settings\\?tab=connections&project=${project}$`));
    assert.equal(asked['may_make'], true);
  });
});
