// The workflows that each MCP client is offered, and the names of their tools (docs/use/mcp.md).
import assert from 'node:assert/strict';
import { chain, drawing, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeMembership, restrictedTo, type Account } from '../accounts.js';
import { copy, publish } from '../marketplace-setup.js';
import { call, connectBare, connectOfficial, offer, type BareClient } from './mcp-clients.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

interface Workflow {
  id: number;
  title: string;
  is_tool: boolean;
  is_chat: boolean;
  version: number;
  data: object;
}

describe('the list of tools', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    project = await account.api.createProject();
  });

  const connect = (who: Account): Promise<BareClient> => connectBare(stack.apiUrl, who.apiKey);
  /** The tools that are workflows: the list without its last tool, `get_run`. */
  async function toolsOf(who: Account): Promise<Tool[]> {
    const client = await connect(who);
    const tools: Tool[] = [];
    for (let cursor: unknown; ;) {
      const { body } = await client.request('list', 'tools/list', cursor === undefined ? {} : { cursor });
      tools.push(...(body.result?.['tools'] as Tool[]));
      cursor = body.result?.['nextCursor'];
      if (cursor !== undefined) continue;
      assert.equal(tools.pop()?.name, 'get_run');
      return tools;
    }
  }
  const namesOf = async (who: Account): Promise<string[]> => (await toolsOf(who)).map(({ name }) => name);
  const read = async (id: number): Promise<Workflow> => (await account.api.get<Workflow>(`/workflows/${id}/`)).body;
  async function member(role: 'viewer' | 'editor' | 'admin' | 'owner', of = project): Promise<Account> {
    const made = await createAccount(stack);
    await giveRole(stack, made, of, role);
    return made;
  }

  it('has the offered workflows for members who may run them; viewers and former members get none', async () => {
    const other = await account.api.createProject();
    const { name } = await offer(account.api, other, chain(1));
    const hidden = await account.api.createWorkflow(other, chain(1));
    for (const role of ['editor', 'admin', 'owner'] as const) {
      assert.deepEqual(await namesOf(await member(role, other)), [name], role);
    }
    const [viewer, stranger, left] = [
      await member('viewer', other),
      await createAccount(stack),
      await member('editor', other),
    ];
    const session = await connect(left);
    await removeMembership(stack, left, other);
    assert.deepEqual([await namesOf(viewer), await namesOf(stranger), await namesOf(left)], [[], [], []]);
    for (const client of [await connect(viewer), await connect(stranger), session]) {
      const { body } = await client.request(1, 'tools/call', { name, arguments: {} });
      assert.deepEqual(body.error, { code: -32602, message: `Unknown tool: ${name}` });
    }
    const { body } = await (await connect(account)).request(1, 'tools/call', { name: `test_workflow_${hidden}` });
    assert.equal(body.error?.code, -32602, 'a workflow that is no tool');
  });

  it('a key that is restricted to a project has the tools of that project alone', async () => {
    const [one, two] = [await account.api.createProject(), await account.api.createProject()];
    const [first, second] = [await offer(account.api, one, chain(1)), await offer(account.api, two, chain(1))];
    const restricted = await restrictedTo(stack, one, account);
    assert.deepEqual(await namesOf(restricted), [first.name]);
    const { body } = await (await connect(restricted)).request(1, 'tools/call', { name: second.name });
    assert.equal(body.error?.code, -32602);
  });

  it('is_tool and is_chat begin false, for what is made, copied, duplicated and imported too; an archived workflow is none', async () => {
    const other = await account.api.createProject();
    const { id, name } = await offer(account.api, other, chain(1), 'Original');
    const before = await read(id);
    const { body: duplicate } = await account.api.post<Workflow>(`/workflows/${id}/duplicate/`);
    const { body: file } = await account.api.get<object>(`/workflows/${id}/export/`);
    assert.equal(JSON.stringify(file).includes('is_tool'), false);
    const { body: imported } = await account.api.post<Workflow>(`/projects/${other}/import/`, {
      body: { ...file, is_tool: true, is_chat: true },
    });
    const made = await read(await account.api.createWorkflow(other, chain(1)));
    const published = await publish(stack, account, { is_tool: true, is_chat: true });
    const buyer = await createAccount(stack);
    const bought = await buyer.api.get<Workflow>(`/workflows/${await copy(buyer, published.slug)}/`);
    assert.deepEqual(
      [before, await read(published.workflowId), duplicate, imported, made, bought.body].map(({ is_tool: is }) => is),
      [true, true, false, false, false, false],
    );
    assert.deepEqual(
      [await read(published.workflowId), duplicate, imported, made, bought.body].map(({ is_chat: is }) => is),
      [true, false, false, false, false],
    );
    const list = await account.api.get<{ items: Workflow[] }>(`/workflows/?project=${other}`);
    assert.deepEqual(
      list.body.items.filter((workflow) => workflow.is_tool).map((workflow) => workflow.id),
      [id],
    );
    const reader = await member('editor', other);
    assert.deepEqual(await namesOf(reader), [name]);
    assert.equal((await account.api.delete(`/workflows/${id}/`)).status, 204);
    assert.deepEqual(await namesOf(reader), []);
    const { body } = await (await connect(reader)).request(1, 'tools/call', { name });
    assert.equal(body.error?.code, -32602);
  });

  it('a change of is_tool makes no version of the drawing, but another ETag; only booleans are taken', async () => {
    const id = await account.api.createWorkflow(project, chain(1));
    const path = `/workflows/${id}/`;
    const first = await account.api.get<Workflow>(path);
    const etag = first.headers.get('etag')!;
    const changed = await account.api.patch<Workflow>(path, { body: { is_tool: true }, headers: { 'if-match': etag } });
    assert.deepEqual([changed.status, changed.body.is_tool, changed.body.version], [200, true, first.body.version]);
    assert.notEqual(changed.headers.get('etag'), etag);
    const stale = await account.api.patch(path, { body: { is_tool: false }, headers: { 'if-match': etag } });
    assert.equal(stale.status, 412);
    for (const wrong of ['true', 1, null, {}]) {
      const { status, body } = await account.api.patch<object>(path, { body: { is_tool: wrong } });
      assert.deepEqual([status, Object.keys(body)], [400, ['is_tool']], JSON.stringify(wrong));
    }
    assert.equal((await read(id)).is_tool, true);
  });

  it('names are made of titles and ids, whatever the titles are, and each names one workflow', async () => {
    const other = await account.api.createProject();
    const titles = [
      'Weekly report',
      'Weekly report',
      'weekly-report!',
      '\u{1F600}\u{1F680}',
      '日本語の要約',
      'Ünïcode (Größe) für Ångström',
      'x'.repeat(255),
      '  - _ -  ',
      '../../etc/passwd; DROP TABLE tools',
      '__proto__',
      'constructor',
      '"}],"tools":[{"name":"evil"',
    ];
    const made = [];
    for (const title of titles) made.push(await offer(account.api, other, chain(1), title));
    const tools = await toolsOf(await member('editor', other));
    assert.deepEqual(
      tools.map(({ name }) => name),
      made.map(({ name }) => name),
      'in the order of their ids',
    );
    for (const [index, { name, title }] of tools.entries()) {
      assert.match(name, NAME);
      assert.ok(name.endsWith(`_${made[index]!.id}`), name);
      assert.equal(title, titles[index]!.trim());
    }
    const [report, , , emoji, , unicode] = tools.map(({ name }) => name.replace(/_\d+$/, ''));
    assert.deepEqual([report, emoji, unicode], ['Weekly_report', 'workflow', 'Unicode_Gro_e_fur_Angstrom']);
    const client = await connectOfficial(stack.apiUrl, account.apiKey);
    const results = await Promise.all(tools.map(({ name }) => call(client, name)));
    assert.deepEqual(
      results.map(({ isError }) => isError ?? false),
      titles.map(() => false),
    );
    await client.client.close();
  });

  it('a new title is a new name, and the old one is unknown from then on', async () => {
    const { id, name } = await offer(account.api, project, chain(1), 'Before');
    await account.api.patch(`/workflows/${id}/`, { body: { title: 'After' } });
    const client = await connect(account);
    assert.equal((await client.request(1, 'tools/call', { name })).body.error?.code, -32602);
    assert.ok((await namesOf(account)).includes(`After_${id}`));
  });

  it('a tool says what it does by the short description, and what it takes by the fields of the trigger', async () => {
    const fields = [
      { id: 'topic', title: 'Topic', tooltip: 'What about', type: 'text', input_requirements: true },
      { id: 'count', type: 'number', default_value: 3, input_requirements: true },
      { id: 'tone', type: 'select', options: [{ value: 'dry' }, { value: 'warm' }] },
      { id: 'token', is_secret: true, default_value: 'nobody sees this', input_requirements: true },
    ];
    const { id, name } = await offer(account.api, project, drawing([trigger(fields)]), 'Described');
    const find = async (): Promise<Tool> => (await toolsOf(account)).find((tool) => tool.name === name)!;
    assert.equal((await find()).description, 'Runs the workflow "Described" and returns what it puts out.');
    await account.api.patch(`/workflows/${id}/`, { body: { short_description: 'Tells of a topic.' } });
    const inputSchema = {
      type: 'object',
      properties: {
        topic: { type: 'string', description: 'Topic. What about' },
        count: { type: 'number' },
        tone: { enum: ['dry', 'warm'] },
      },
      required: ['topic'],
    };
    const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
    assert.deepEqual(await find(), {
      name,
      title: 'Described',
      description: 'Tells of a topic.',
      inputSchema,
      annotations: { title: 'Described', ...annotations },
      execution: { taskSupport: 'optional' },
    });
    const facts = await account.api.get(`/workflows/${id}/tool/`);
    assert.deepEqual(facts.body, {
      name,
      description: 'Tells of a topic.',
      input_schema: inputSchema,
      is_tool: true,
      url: `${stack.apiUrl}/mcp`,
    });
    assert.equal(JSON.stringify(facts.body).includes('nobody sees this'), false);
  });

  it('the fields follow each change of the drawing, also while it is not offered, up to 32 KiB', async () => {
    const other = await account.api.createProject();
    const single = (...ids: string[]): object => drawing([trigger(ids.map((id) => ({ id })))]);
    const { id } = await offer(account.api, other, single('first'));
    const restricted = await restrictedTo(stack, other, account);
    const own = async (): Promise<string[]> => {
      const [tool, ...more] = await toolsOf(restricted);
      assert.deepEqual(more, []);
      return Object.keys(tool!.inputSchema['properties'] as object);
    };
    const change = (body: object) => account.api.patch(`/workflows/${id}/`, { body });
    assert.deepEqual(await own(), ['first']);
    await change({ data: single('second') });
    assert.deepEqual(await own(), ['second']);
    await change({ is_tool: false });
    await change({ data: single('third') });
    const facts = await account.api.get<{ input_schema: { properties: object } }>(`/workflows/${id}/tool/`);
    assert.deepEqual(Object.keys(facts.body.input_schema.properties), ['third'], 'while it is none');
    const [kept] = await queryDatabase<{ fields: unknown }>(
      stack,
      'SELECT tool_fields AS fields FROM workflows WHERE id = $1',
      [id],
    );
    assert.equal(kept!.fields, null);
    await change({ is_tool: true, short_description: 'x' });
    assert.deepEqual(await own(), ['third']);
    await change({ title: 'Another title' });
    assert.deepEqual(await own(), ['third']);
    await change({ data: drawing([trigger([{ id: 'large', tooltip: 'x'.repeat(32_000) }])]) });
    assert.deepEqual(await own(), ['large']);
    await change({ data: drawing([trigger([{ id: 'larger', tooltip: 'x'.repeat(32_768) }])]) });
    assert.deepEqual(await own(), []);
  });

  it('two fields with the same id are one argument', async () => {
    const fields = [1, 2].map(() => ({ id: 'a', input_requirements: true }));
    const { id } = await offer(account.api, project, drawing([trigger(fields)]));
    const { body } = await account.api.get<{ input_schema: object }>(`/workflows/${id}/tool/`);
    assert.deepEqual(body.input_schema, { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });
  });

  it('invalid drawings are offered without fields: numbers for nodes, too many fields, no nodes', async () => {
    const other = await account.api.createProject();
    const many = Array.from({ length: 40 }, (_, index) => ({ id: `f${index}`, tooltip: 'x'.repeat(1_000) }));
    const drawings = [
      {},
      { nodes: 'none' },
      { nodes: [1, null, 'x', [], { id: 2 }], start_node: 2 },
      { nodes: [{ id: 'a', type: 'trigger-node', data: { input_fields: 'x' } }], start_node: 'b' },
      drawing([trigger(many)]),
    ];
    for (const data of drawings) await offer(account.api, other, data);
    const tools = await toolsOf(await member('editor', other));
    assert.deepEqual(
      tools.map(({ inputSchema }) => inputSchema),
      drawings.map(() => ({ type: 'object', properties: {} })),
    );
  });

  it('comes in pages, and only a cursor of an earlier page is accepted', async () => {
    const other = await account.api.createProject();
    const names: string[] = [];
    for (let count = 0; count < 51; count += 1) names.push((await offer(account.api, other, chain(1))).name);
    const reader = await member('editor', other);
    const client = await connect(reader);
    const first = (await client.request(1, 'tools/list')).body.result!;
    assert.deepEqual([(first['tools'] as Tool[]).length, typeof first['nextCursor']], [50, 'string']);
    assert.deepEqual(await namesOf(reader), names);
    for (const cursor of ['', 'x', '-1', '0', '1e3', '99999999999', 5, {}, null]) {
      const { body } = await client.request(1, 'tools/list', { cursor });
      assert.equal(body.error?.code, -32602, JSON.stringify(cursor));
    }
  });
});
