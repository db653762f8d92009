import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, drawing, http, link, linkInRow, mcp, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { historyOf, queryDatabase, tablesWith } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import type { Workflow } from '../bodies.js';

const MASK = '********';

type Drawn = Workflow & { data: Drawing; version: number };
const TABLES = [
  'workflows',
  'workflow_versions',
  'graph_snapshots',
  'runs',
  'node_results',
  'provider_calls',
  'billing_transactions',
];

describe('secrets', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  /** A drawing that sends the secret field in a header to the target, which echoes it. */
  const draw = (defaultValue: unknown): Drawing => {
    const start = trigger([
      { id: 'token', type: 'text', is_secret: true, default_value: defaultValue },
      { id: 'note', type: 'text' },
    ]);
    const call = http(`${target.url}/echo`, { headers: { 'X-Token': '{{ input.token }}' } });
    link(start, call);
    return drawing([start, call]);
  };

  const sentTokens = (): string[] => target.requests.map(({ headers }) => String(headers['x-token']));

  it('a secret reaches the HTTP target and is in no answer, no row, no log and nowhere in the history', async () => {
    const [stored, given] = [canary(), canary()];
    const data = draw(stored);
    const created = await api.post<Workflow>('/workflows/', { body: { project, title: 'S', data } });
    assert.deepEqual(created.body.data, withDefault(data, MASK));
    const id = created.body.id;
    const runs = [await api.run(id, {}), await api.run(id, { token: given, note: `see ${given}` })];
    const polled = [];
    for (const run of runs) polled.push(await api.pollToEnd(run.data.id));
    assert.deepEqual(
      polled.map((envelope) => envelope.data.status),
      ['succeed', 'succeed'],
    );
    for (const secret of [stored, given]) assert.ok(sentTokens().includes(secret));

    const paths = ['', 'input-fields/', 'check_workflow/', 'history/', ...runs.map((run) => `history/${run.data.id}/`)];
    const answers = await Promise.all(paths.map((path) => api.get(`/workflows/${id}/${path}`)));
    const list = await api.get(`/workflows/?project=${project}&size=100`);
    const forms = [stored, given].flatMap((secret) => [
      secret.slice(0, -3),
      Buffer.from(secret.slice(0, 30)).toString('base64'),
    ]);
    assert.deepEqual(await tablesWith(stack, TABLES, forms), []);
    const histories = await Promise.all(runs.map((run) => historyOf(stack, run.data.id)));
    const places = { created, polled, answers, list, histories, logs: stack.logs() };
    for (const [place, content] of Object.entries(places)) {
      const text = JSON.stringify(content);
      for (const form of forms) assert.ok(!text.includes(form), `${place} holds a secret`);
    }
    const record = await api.history(id, runs[1]!.data.id);
    assert.deepEqual(record['input_data'], { token: MASK, note: `see ${MASK}` });
  });

  it('******** in an update keeps the stored secret, another value replaces it', async () => {
    const [first, second] = [canary(), canary()];
    const data = draw(first);
    const id = await api.createWorkflow(project, data);
    const sentAfter = async (value: unknown): Promise<string | undefined> => {
      await api.patch(`/workflows/${id}/`, { body: { data: withDefault(data, value) } });
      await api.pollToEnd((await api.run(id)).data.id);
      return sentTokens().at(-1);
    };
    assert.equal(await sentAfter(MASK), first);
    assert.equal(await sentAfter(second), second);
    assert.equal(await sentAfter(MASK), second);
    assert.equal(await sentAfter(''), '');
    await api.patch(`/workflows/${id}/`, { body: { title: 'only the title' } });
  });

  it('on create ******** is stored literally', async () => {
    const data = draw(MASK);
    const id = await api.createWorkflow(project, data);
    assert.deepEqual((await api.get<Workflow>(`/workflows/${id}/`)).body.data, JSON.parse(JSON.stringify(data)));
    const rows = await queryDatabase(stack, 'SELECT secrets_enc FROM workflows WHERE id = $1', [id]);
    assert.deepEqual(rows, [{ secrets_enc: null }]);
  });

  it('******** on run means the stored default; a value sent holds for that run and leaves the default', async () => {
    const [stored, given] = [canary(), canary()];
    const id = await api.createWorkflow(project, draw(stored));
    const sentWith = async (input: unknown): Promise<string | undefined> => {
      await api.pollToEnd((await api.run(id, input)).data.id);
      return sentTokens().at(-1);
    };
    assert.equal(await sentWith({ token: MASK }), stored);
    assert.equal(await sentWith({ token: given }), given);
    assert.equal(await sentWith({}), stored);
  });

  it('two updates at once both keep the secret', async () => {
    const secret = canary();
    const data = draw(secret);
    const id = await api.createWorkflow(project, data);
    const body = { data: withDefault(data, MASK) };
    await Promise.all(Array.from({ length: 8 }, () => api.patch(`/workflows/${id}/`, { body })));
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sentTokens().at(-1), secret);
  });

  it('no answer to a change holds a secret: update, duplicate, reorder, run, re-run, flags, billing', async () => {
    const [stored, given] = [canary(), canary()];
    const data = draw(stored);
    const id = await api.createWorkflow(project, data);
    const input = { token: given, note: `see ${given}` };
    const original = await api.run(id, input);
    await api.pollToEnd(original.data.id);
    const run = `/workflows/${id}/history/${original.data.id}`;
    const answers = [
      await api.patch(`/workflows/${id}/`, { body: { data: withDefault(data, MASK) } }),
      await api.post(`/workflows/${id}/duplicate/`),
      await api.post(`/workflows/${id}/reorder/`, { body: { sort_id: 1 } }),
      await api.post(`${run}/re-run/`),
      await api.post(`${run}/re-run/`, { body: input }),
      await api.post(`${run}/toggle-api-run/`, { body: { is_api_run: true } }),
      await api.post(`${run}/toggle-marketplace-example/`, { body: { use_in_marketplace_example: true } }),
      await api.post(`${run}/toggle-marketplace-use/`, { body: { use_as_marketplace_template: true } }),
      await api.get(`/billing-history/workflowrun/${original.data.id}/`),
    ];
    for (const { status, body } of answers) {
      assert.ok(status === 200 || status === 201, JSON.stringify(body));
      for (const secret of [stored, given]) assert.ok(!JSON.stringify(body).includes(secret.slice(0, -3)));
    }
    // The requests of these runs would otherwise arrive during the next test.
    for (const { body } of answers.slice(3, 5)) await api.pollToEnd((body as Record<'data', { id: string }>).data.id);
  });

  it('a viewer never sees the Authorization of an HTTP node, and the run sends it', async () => {
    const [secret, later] = [canary().replace('"', ''), canary().replace('"', '')];
    const call = http(`${target.url}/echo`, { headers: { Authorization: `Bearer ${secret}`, Accept: '*/*' } });
    const data = drawing(linkInRow([trigger(), call]));
    const id = await api.createWorkflow(project, data);
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, project, 'viewer');
    const sent = (): unknown => target.requests.at(-1)?.headers['authorization'];
    const headersSeen = async (): Promise<unknown> =>
      (await viewer.api.get<Drawn>(`/workflows/${id}/`)).body.data.nodes[1]!.data['headers'];
    const run = await api.run(id);
    assert.equal((await api.pollToEnd(run.data.id)).data.status, 'succeed');
    assert.equal(sent(), `Bearer ${secret}`);
    assert.deepEqual(await headersSeen(), { Authorization: MASK, Accept: '*/*' });

    const keep = await api.get<Drawn>(`/workflows/${id}/`);
    assert.equal((await api.patch(`/workflows/${id}/`, { body: { data: keep.body.data } })).status, 200);
    assert.equal((await viewer.api.get<Drawn>(`/workflows/${id}/`)).body.version, 1, 'nothing has changed');
    const replaced = structuredClone(keep.body.data);
    replaced.nodes[1]!.data['headers'] = { Authorization: `Bearer ${later}` };
    await api.patch(`/workflows/${id}/`, { body: { data: replaced } });
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sent(), `Bearer ${later}`);
    assert.equal((await api.post(`/workflows/${id}/versions/1/restore/`)).status, 200);
    const again = await api.run(id);
    await api.pollToEnd(again.data.id);
    assert.equal(sent(), `Bearer ${secret}`);

    const paths = ['', 'export/', 'versions/', 'versions/1/', 'versions/2/', 'check_workflow/', 'history/'];
    const ofRun = [`history/${run.data.id}/`, `history/${again.data.id}/`];
    const answers = await Promise.all([...paths, ...ofRun].map((path) => viewer.api.get(`/workflows/${id}/${path}`)));
    answers.push(await viewer.api.get(`/workflows/workflow_result/?id=${run.data.id}`));
    for (const { status, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body));
      for (const text of [secret, later]) assert.ok(!JSON.stringify(body).includes(text.slice(0, -3)));
    }
    assert.deepEqual(await tablesWith(stack, TABLES, [secret.slice(0, -3), later.slice(0, -3)]), []);
    const check = await viewer.api.get<{ warnings: { code: string }[] }>(`/workflows/${id}/check_workflow/`);
    assert.ok(check.body.warnings.some(({ code }) => code === 'literal_credential'));

    const moved = (await api.get<Drawn>(`/workflows/${id}/`)).body.data;
    moved.nodes[1]!.data['url'] = 'https://elsewhere.test/';
    await api.patch(`/workflows/${id}/`, { body: { data: moved } });
    const refused = await api.run(id);
    assert.equal(refused.status, 422, 'the value stays with the origin that it was entered for');
  });

  it('a user name and password in an address are in no answer, no row, no log, no file and no copy', async () => {
    const [user, password] = [`user-${randomBytes(8).toString('hex')}`, `p%40ss-${randomBytes(8).toString('hex')}`];
    const address = `https://${user}:${password}@api.test/x?y=1`;
    const tools = [{ type: 'mcp', server_label: 's', endpoint_url: address }];
    const nodes = [http(address), mcp(address, 'echo'), agent('hello', { model_name: 'm' }, tools)];
    const data = drawing(linkInRow([trigger(), ...nodes]));
    const created = await api.post<Workflow>('/workflows/', { body: { project, title: 'A', data } });
    const masked = `https://${MASK}@api.test/x?y=1`;
    const [, call, tool] = (created.body.data as Drawing).nodes;
    assert.deepEqual([call!.data['url'], tool!.data['endpoint_url']], [masked, masked]);
    const { id } = created.body;
    const run = await api.run(id);
    assert.equal(run.status, 422);
    // The masked address stands for the stored one, and a change of the viewport makes no version.
    const moved = { ...(created.body.data as Drawing), viewport: { x: 1, y: 2, zoom: 3 } };
    assert.equal((await api.patch<Drawn>(`/workflows/${id}/`, { body: { data: moved } })).body.version, 1);
    const copy = await api.createProject();
    const exported = await api.get<{ data: Drawing }>(`/workflows/${id}/export/`);
    assert.equal(exported.body.data.nodes[1]!.data['url'], masked);
    const imported = await api.post(`/projects/${copy}/import/`, { body: exported.body });
    assert.equal(imported.status, 201);
    await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger()]) } });
    const paths = ['', 'check_workflow/', 'export/', 'versions/', 'versions/1/', 'history/', `history/${run.data.id}/`];
    const answers = await Promise.all(paths.map((path) => api.get(`/workflows/${id}/${path}`)));
    const restored = await api.post(`/workflows/${id}/versions/1/restore/`);
    const later = await api.get(`/workflows/${id}/export/`);
    const checked = await api.post(`/workflows/${id}/check_workflow/`, { body: { drawing: data } });
    assert.equal(checked.status, 200);
    const credentials = [user, password, decodeURIComponent(password)];
    assert.deepEqual(await tablesWith(stack, TABLES, credentials), []);
    const places = { created, run, exported, imported, answers, restored, later, checked, logs: stack.logs() };
    for (const [place, content] of Object.entries(places)) {
      for (const text of credentials) assert.ok(!JSON.stringify(content).includes(text), `${place} holds ${text}`);
    }
  });

  it('a stored secret cannot be had by making its field public', async () => {
    const secret = canary();
    const data = draw(secret);
    const id = await api.createWorkflow(project, data);
    const open = withDefault(data, MASK);
    (open.nodes[0]!.data['input_fields'] as Record<string, unknown>[])[0]!['is_secret'] = false;
    assert.equal((await api.patch(`/workflows/${id}/`, { body: { data: open } })).status, 400);
    await api.pollToEnd((await api.run(id)).data.id);
    assert.equal(sentTokens().at(-1), secret);
  });
});

/** A secret that ends in characters that each encoding writes differently. */
function canary(): string {
  return `canary-${randomBytes(12).toString('hex')}"+/`;
}

function withDefault(data: Drawing, value: unknown): Drawing {
  const copy = structuredClone(data);
  (copy.nodes[0]!.data['input_fields'] as Record<string, unknown>[])[0]!['default_value'] = value;
  return copy;
}
