// If a mask, `********`, has no stored secret, the drawing keeps the mask, and no request sends it.
import assert from 'node:assert/strict';
import {
  agent,
  drawing,
  http,
  linkInRow,
  mcp,
  node as nodeOf,
  trigger,
  type Drawing,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import type { ApiClient, Envelope } from '../../../harness/client/api-client.js';
import { createAccount } from '../accounts.js';
import type { FieldErrors } from '../bodies.js';

const MASK = '********';
const LOST = /^The stored value does not belong to .* any more; enter it again\.$/;

interface Check {
  is_valid: boolean;
  warnings: { node_id: string; code: string; message: string }[];
}

describe('a secret that an update has lost', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    ({ api } = await createAccount(await sharedStack()));
    project = await api.createProject();
    target = await startHttpTarget();
    tools = await startToolServer();
  });
  after(async () => {
    await target.close();
    await tools.close();
  });

  const sentTokens = (): unknown[] => target.requests.map(({ headers }) => headers['x-token']);
  const errorsOf = ({ data }: Envelope, { id }: DrawingNode): Record<string, string>[] =>
    (data.data?.[id] as { result?: unknown } | undefined)?.result as Record<string, string>[];

  function withFields(fields: object[], path: string): { start: DrawingNode; data: Drawing } {
    const secret = fields.map((field) => ({ type: 'text', is_secret: true, ...field }));
    const call = http(`${target.url}${path}`, { headers: { 'X-Token': '{{ input.token }}{{ input.pass }}' } });
    const start = trigger(secret);
    return { start, data: drawing(linkInRow([start, call])) };
  }

  /** Changes the drawing as an editor does: reads it, edits it, and sends it back. */
  async function change(id: number, edit: (data: Drawing) => void): Promise<void> {
    const { body } = await api.get<{ data: Drawing }>(`/workflows/${id}/`);
    edit(body.data);
    assert.equal((await api.patch(`/workflows/${id}/`, { body: { data: body.data } })).status, 200);
  }

  async function expectRefusal(id: number, node: DrawingNode, path: string): Promise<void> {
    const check = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    const [warning] = check.body.warnings.filter(({ code }) => code === 'lost_secret');
    assert.equal(warning?.node_id, node.id);
    assert.ok(warning.message.includes(path), warning.message);
    const refused = await api.run(id);
    assert.equal(refused.status, 422, JSON.stringify(refused));
    const [error] = errorsOf(refused, node);
    assert.deepEqual(Object.keys(error!), [path]);
    assert.match(error![path]!, LOST);
  }

  it('a renamed field keeps its value where nothing else can be meant', async () => {
    const { data } = withFields([{ id: 'token', default_value: 'canary-one' }], '/renamed');
    const id = await api.createWorkflow(project, data);
    await change(id, ({ nodes }) => {
      (nodes[0]!.data['input_fields'] as { id: string }[])[0]!.id = 'pass';
    });
    await api.pollToEnd((await api.run(id)).data.id);
    assert.deepEqual(sentTokens().at(-1), 'canary-one');
  });

  it('of two renamed fields neither has a value: the run is refused until both are entered, in an update or the input', async () => {
    const fields = [
      { id: 'one', default_value: 'canary-one' },
      { id: 'two', default_value: 'canary-two' },
    ];
    const { start, data } = withFields(fields, '/two');
    const id = await api.createWorkflow(project, data);
    const rename = (nodes: DrawingNode[], values: unknown[]) => {
      nodes[0]!.data['input_fields'] = ['token', 'pass'].map((name, index) => {
        return { id: name, type: 'text', is_secret: true, default_value: values[index] };
      });
    };
    await change(id, ({ nodes }) => rename(nodes, [MASK, MASK]));
    await expectRefusal(id, start, 'token');
    assert.equal(errorsOf(await api.run(id), start).length, 2);
    assert.equal(errorsOf(await api.run(id, { token: MASK, pass: 'p' }), start).length, 1, 'the mask is no value');
    await change(id, () => undefined);
    await expectRefusal(id, start, 'token');
    await api.pollToEnd((await api.run(id, { token: 'given-', pass: 'both' })).data.id);
    assert.equal(sentTokens().at(-1), 'given-both');
    await change(id, ({ nodes }) => rename(nodes, ['new-', 'values']));
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sentTokens().at(-1), 'new-values');
  });

  it('a node of another id, and a field emptied and masked again, have lost it as well', async () => {
    const { start, data } = withFields([{ id: 'token', default_value: 'canary-one' }], '/node');
    const id = await api.createWorkflow(project, data);
    await change(id, (drawn) => {
      drawn.start_node = drawn.nodes[0]!.id = drawn.nodes[0]!.data.id = 'another';
    });
    await expectRefusal(id, { ...start, id: 'another' }, 'token');
    const second = await api.createWorkflow(project, data);
    const setDefault = (value: string) => (drawn: Drawing) => {
      (drawn.nodes[0]!.data['input_fields'] as { default_value: string }[])[0]!.default_value = value;
    };
    await change(second, setDefault(''));
    await change(second, setDefault(MASK));
    await expectRefusal(second, start, 'token');
    assert.deepEqual(target.requestsTo('/node'), []);
  });

  it('what was created as ******** counts as not given: empty, in the input too, and an error where it is required', async () => {
    const { start, data } = withFields([{ id: 'token', default_value: MASK }], '/literal');
    const id = await api.createWorkflow(project, data);
    await change(id, () => undefined);
    for (const input of [{}, { token: MASK }]) await api.pollToEnd((await api.run(id, input)).data.id);
    assert.deepEqual(
      target.requestsTo('/literal').map(({ headers }) => headers['x-token']),
      ['', ''],
    );
    const required = { id: 'token', default_value: MASK, input_requirements: true };
    const strict = withFields([required], '/literal');
    const refused = await api.run(await api.createWorkflow(project, strict.data), { token: MASK });
    assert.deepEqual([refused.status, errorsOf(refused, strict.start)], [422, [{ token: 'Field required' }]]);
    const check = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    const warned = check.body.warnings.filter(({ code }) => code === 'lost_secret').map(({ node_id }) => node_id);
    assert.deepEqual([check.body.is_valid, warned], [true, [start.id]]);
  });

  it('a credential header of an MCP node: renamed it keeps its value, at another server or under another node it is refused', async () => {
    const call = mcp(tools.url, 'note', { text: 'x' }, { headers: { Authorization: 'Bearer canary' } });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), call])));
    await change(id, ({ nodes }) => (nodes[1]!.data['headers'] = { 'X-Api-Key': MASK }));
    await api.pollToEnd((await api.run(id)).data.id);
    assert.deepEqual(tools.calls.at(-1)?.headers['x-api-key'], 'Bearer canary');
    await change(id, ({ nodes }) => (nodes[1]!.data['endpoint_url'] = target.url));
    await expectRefusal(id, call, 'headers.X-Api-Key');
    const check = await api.get<Check>(`/workflows/${id}/check_workflow/`);
    assert.equal(check.body.is_valid, false);
  });

  it('a credential header of an agent`s tool server of another label, and one that was created as ********', async () => {
    const server = { endpoint_url: tools.url, headers: { Authorization: 'Bearer canary' } };
    const node = agent('hi', {}, [server]);
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), node])));
    const relabel = ({ nodes }: Drawing) => {
      (nodes[1]!.data['tools'] as { server_label: string }[])[0]!.server_label = 'other';
    };
    await change(id, relabel);
    await expectRefusal(id, node, 'tools.0.headers.Authorization');
    const literal = agent('hi', {}, [{ ...server, headers: { 'X-Api-Key': MASK } }]);
    const created = await api.createWorkflow(project, drawing(linkInRow([trigger(), literal])));
    await expectRefusal(created, literal, 'tools.0.headers.X-Api-Key');
  });

  it('mcp-tools refuses ******** for a header that has no stored value, and leaves a lost one out', async () => {
    const call = mcp(target.url, 'note', {}, { headers: { Authorization: MASK, 'X-Api-Key': 'canary' } });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), call])));
    const ask = (headers: object) =>
      api.post<FieldErrors>('/workflows/mcp-tools/', {
        body: { endpoint_url: target.url, workflow_id: id, node_id: call.id, headers },
      });
    for (const name of ['Authorization', 'X-Token']) {
      const { status, body } = await ask({ [name]: MASK });
      assert.deepEqual([status, Object.keys(body)], [400, ['headers']]);
      assert.ok(body['headers']![0]!.includes(name));
    }
    const before = target.requests.length;
    await ask({ 'X-Api-Key': MASK });
    const asked = target.requests.slice(before);
    assert.ok(asked.length > 0);
    for (const { headers } of asked)
      assert.deepEqual([headers['x-api-key'], headers.authorization], ['canary', undefined]);
  });

  it('a field or header that is no secret any more must be entered again: the update is a 400, and the stored value stays', async () => {
    const { data } = withFields([{ id: 'token', default_value: 'canary-one' }], '/public');
    const server = mcp(tools.url, 'note', { text: 'x' }, { headers: { Authorization: 'Bearer canary' } });
    const id = await api.createWorkflow(project, drawing(linkInRow([...data.nodes, server])));
    const { body } = await api.get<{ data: Drawing }>(`/workflows/${id}/`);
    const fieldOf = ({ nodes }: Drawing) => (nodes[0]!.data['input_fields'] as Record<string, unknown>[])[0]!;
    const refused: [place: string, edit: (data: Drawing) => void][] = [
      ['field "token"', (drawn) => (fieldOf(drawn)['is_secret'] = false)],
      ['field "token"', (drawn) => delete fieldOf(drawn)['is_secret']],
      ['field "pass"', (drawn) => Object.assign(fieldOf(drawn), { id: 'pass', is_secret: false })],
      ['header "X-Plain"', ({ nodes }) => (nodes[2]!.data['headers'] = { 'X-Plain': MASK })],
      ['header "Authorization"', ({ nodes }) => (nodes[2]!.type = 'basic-node')],
      ['header "X-New"', ({ nodes }) => (nodes[1]!.data['headers'] = { 'X-New': MASK })],
    ];
    for (const [place, edit] of refused) {
      const changed = structuredClone(body.data);
      edit(changed);
      const answer = await api.patch<FieldErrors>(`/workflows/${id}/`, { body: { data: changed } });
      assert.deepEqual([answer.status, Object.keys(answer.body)], [400, ['data']], place);
      assert.match(answer.body['data']!.join('\n'), new RegExp(`${place} of the node .* enter the value`));
    }
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sentTokens().at(-1), 'canary-one');
    await change(id, (drawn) => Object.assign(fieldOf(drawn), { is_secret: false, default_value: 'public' }));
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sentTokens().at(-1), 'public');
  });

  it('a field that is not secret and has ******** counts as not given: by default, in inputs of all kinds, and in a re-run', async () => {
    const call = http(`${target.url}/open`, { headers: { 'X-Token': '{{ input.token }}' } });
    const fields = [
      { id: 'token', default_value: MASK },
      { id: 'other', options: [{ value: MASK, is_default: true }] },
    ];
    const data = drawing(linkInRow([trigger(fields), call]));
    const id = await api.createWorkflow(project, data);
    const stored = await api.get<{ data: Drawing }>(`/workflows/${id}/`);
    assert.deepEqual(stored.body.data, data, 'it is stored literally');
    await change(id, () => undefined);
    const runs = [(await api.run(id)).data.id, (await api.run(id, { token: MASK, other: MASK })).data.id];
    const reRun = await api.post<{ data: { id: string } }>(`/workflows/${id}/history/${runs[0]}/re-run/`, {
      body: { token: MASK },
    });
    runs.push(reRun.body.data.id);
    const parent = nodeOf('workflow', { workflow_id: id, input: { token: MASK } });
    runs.push((await api.run(await api.createWorkflow(project, drawing(linkInRow([trigger(), parent]))))).data.id);
    const hook = await api.post<{ url: string }>(`/workflows/${id}/hooks/`, { body: { verify: 'none' } });
    const delivered = await fetch(hook.body.url, { method: 'POST', body: JSON.stringify({ token: MASK }) });
    runs.push(((await delivered.json()) as { id: string }).id);
    for (const run of runs) assert.equal((await api.pollToEnd(run)).data.status, 'succeed');
    assert.deepEqual(
      target.requestsTo('/open').map(({ headers }) => headers['x-token']),
      ['', '', '', '', ''],
    );
  });

  it('headers of any node that are ******** stop the run before it begins', async () => {
    const call = http(`${target.url}/headers`, { headers: { Authorization: MASK, 'X-Plain': MASK } });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), call])));
    const refused = await api.run(id);
    assert.equal(refused.status, 422);
    const paths = errorsOf(refused, call).flatMap((error) => Object.keys(error));
    assert.deepEqual(paths, ['headers.Authorization', 'headers.X-Plain']);
    assert.deepEqual(target.requestsTo('/headers'), []);
  });

  it('no request of all these carried the mask', () => {
    const all = JSON.stringify([target.requests, tools.calls, tools.bodies]);
    assert.ok(!all.includes(MASK));
  });
});
