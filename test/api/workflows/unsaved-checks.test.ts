// Tests the check of a drawing that the request contains and that is not stored.
import assert from 'node:assert/strict';
import type { ApiClient } from '../../../harness/client/api-client.js';
import {
  agent,
  chain,
  condition,
  drawing,
  http,
  linkInRow,
  llm,
  node,
  trigger,
  type Drawing,
} from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { tablesWith } from '../../support/inspect.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import type { Workflow } from '../bodies.js';

const MASK = '********';

interface Check {
  status: number;
  data: { id: null; status: string; detail?: string };
  is_valid: boolean;
  errors: { node_id: string | null; path: string; message: string }[];
  warnings: { node_id: string; code: string; message: string }[];
}

describe('a drawing that is checked without being stored', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    ({ api } = owner);
    project = await api.createProject();
  });

  const check = (id: number, sent: unknown, by = api) =>
    by.post<Check>(`/workflows/${id}/check_workflow/`, { body: { drawing: sent } });
  const read = async (id: number) => (await api.get<Workflow>(`/workflows/${id}/`)).body;

  it('has the answer that the GET gives once it is stored, and stores nothing', async () => {
    const id = await api.createWorkflow(project, chain(2));
    const stored = await read(id);
    const wrong = [llm(''), http(''), node('workflow', { workflow_id: id, input: {} })];
    const drawings: unknown[] = [
      chain(3),
      drawing(linkInRow([trigger(), ...wrong])),
      drawing(linkInRow([trigger([{ id: 'city' }]), condition('{{ input.town }}', '==', '{{ nobody.result }}')])),
      drawing(linkInRow([trigger(), http('https://api.test/', { connection: 999_999_999 })])),
      { nodes: [] },
      { nodes: [{}, 7, { id: 'a' }], start_node: 'b', edges: 'none' },
      {},
    ];
    const checks: Check[] = [];
    for (const each of drawings) {
      const { status, body } = await check(id, each);
      assert.equal(status, 200, JSON.stringify(body));
      checks.push(body);
    }
    assert.deepEqual(await read(id), stored);
    assert.deepEqual(
      checks.map(({ is_valid: isValid }) => isValid),
      [true, false, true, false, false, false, false],
    );
    for (const [index, each] of drawings.entries()) {
      assert.equal((await api.patch(`/workflows/${id}/`, { body: { data: each } })).status, 200);
      const { body } = await api.get<Check>(`/workflows/${id}/check_workflow/`);
      assert.deepEqual(checks[index], body);
    }
  });

  it('takes ******** for the value that is stored there, which no answer, no table and no log holds', async () => {
    const secret = `canary-${crypto.randomUUID()}`;
    const call = http('https://api.test/', { headers: { 'X-Api-Key': secret } });
    const start = trigger([{ id: 'token', is_secret: true, default_value: secret, input_requirements: true }]);
    const id = await api.createWorkflow(project, drawing(linkInRow([start, call])));
    const data = (await read(id)).data as Drawing;
    const kept = await check(id, { ...data, viewport: { x: 1, y: 1, zoom: 2 } });
    assert.equal(kept.body.is_valid, true, JSON.stringify(kept.body));
    assert.deepEqual([...new Set(kept.body.warnings.map(({ code }) => code))], ['literal_credential']);

    const moved = structuredClone(data);
    moved.nodes[1]!.data['url'] = 'https://elsewhere.test/';
    const lost = await check(id, moved);
    assert.equal(lost.body.is_valid, false);
    assert.deepEqual(
      lost.body.errors.map(({ node_id: nodeId, path }) => [nodeId, path]),
      [[call.id, 'headers.X-Api-Key']],
    );

    const fresh = structuredClone(data);
    fresh.nodes[1]!.data['headers'] = { 'X-Api-Key': `new-${secret}` };
    fresh.nodes[1]!.data['method'] = `new-${secret}`;
    const answers = [kept, lost, await check(id, fresh)];
    assert.equal(answers[2]!.status, 200);
    assert.ok(!JSON.stringify(answers).includes(secret));
    assert.deepEqual(await tablesWith(stack, ['audit_records', 'workflows', 'workflow_versions'], [secret]), []);
    assert.ok(!stack.logs().includes(secret));
    assert.deepEqual((await read(id)).data, data);
    assert.equal(MASK, (data.nodes[1]!.data['headers'] as Record<string, string>)['X-Api-Key']);
  });

  it('may hold more notes and secrets than can be stored, and is told so', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const notes = Array.from({ length: 201 }, (_, number) => ({ id: `n${number}`, text: 'x' }));
    const headers = Object.fromEntries(Array.from({ length: 10_001 }, (_, number) => [`h${number}`, MASK]));
    for (const each of [
      { ...chain(1), notes },
      drawing(linkInRow([trigger(), http('https://a.test/', { headers })])),
    ]) {
      const { status, body } = await check(id, each);
      assert.deepEqual([status, body.status, body.is_valid], [200, 400, false]);
      assert.deepEqual(body.errors, [{ node_id: null, path: '', message: body.data.detail }]);
      const stored = await api.patch<{ data: string[] }>(`/workflows/${id}/`, { body: { data: each } });
      assert.deepEqual([stored.status, stored.body.data], [400, [body.data.detail]]);
    }
  });

  it('is of the size of a drawing at most, and an object', async () => {
    const id = await api.createWorkflow(project, chain(1));
    for (const [sent, message] of [
      [undefined, 'This field is required.'],
      [null, 'This field may not be null.'],
      [[], 'Expected a JSON object.'],
      ['{}', 'Expected a JSON object.'],
    ] as const) {
      const { status, body } = await api.post(`/workflows/${id}/check_workflow/`, { body: { drawing: sent } });
      assert.deepEqual([status, body], [400, { drawing: [message] }]);
    }
    const large = (bytes: number) => ({ ...chain(1), settings: { note: 'x'.repeat(bytes) } });
    assert.equal((await check(id, large(9 * 1024 * 1024))).body.is_valid, true);
    assert.equal((await check(id, large(10 * 1024 * 1024))).status, 413);
  });

  it('is for members who may change the workflow', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const [viewer, editor, stranger] = await Promise.all([1, 2, 3].map(() => createAccount(stack)));
    await giveRole(stack, viewer!, project, 'viewer');
    await giveRole(stack, editor!, project, 'editor');
    const statuses = await Promise.all([viewer, editor, stranger].map((by) => check(id, chain(1), by!.api)));
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [403, 200, 404],
    );
  });

  it('warns of a call of itself, and of a call of a workflow in another project', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const calls = (workflow: number) =>
      drawing(linkInRow([trigger(), node('workflow', { workflow_id: workflow, input: {} })]));
    const other = await api.createWorkflow(await api.createProject(), chain(1));
    const codes = await Promise.all(
      [id, other].map(async (called) => (await check(id, calls(called))).body.warnings.map(({ code }) => code)),
    );
    assert.deepEqual(codes, [['recursive_workflow'], ['unknown_workflow']]);
    const asks = agent('Hi', {}, [{ endpoint_url: 'https://tools.test/mcp' }]);
    assert.deepEqual((await check(id, drawing(linkInRow([trigger(), asks])))).body.warnings, []);
  });
});
