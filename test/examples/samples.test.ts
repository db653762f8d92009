import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addServices } from '../../cli/demo/add-services.js';
import type { Attend } from '../../cli/demo/attend.js';
import { createDemoApi, type DemoApi, type RunState } from '../../cli/demo/demo-api.js';
import { filesOfSample, loadSamples, placeSample, type Answer, type Sample } from '../../cli/samples/samples.js';
import type { HttpServer } from '../../cli/sandbox/http-server.js';
import { startSandboxTargets } from '../../cli/sandbox/targets.js';
import { kinds, type NodeKind } from '../../graph/kinds.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { attendToEnd } from '../support/attended-run.js';
import { sharedStack } from '../support/shared-stack.js';
import { standIn } from '../support/stand-in.js';

interface Made {
  sample: Sample;
  workflowId: number;
}

interface SampleRun extends Made {
  state: RunState;
  runId: string;
  done: string[];
}

/** Answers no wait: an answer could arrive before or after the end of a wait of zero seconds. */
const nobody = async (): Promise<string[]> => [];
const usd = ({ USD }: Record<string, string>): number => Number(USD);

describe('the sample workflows', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let demo: DemoApi;
  let targets: HttpServer;
  const made = new Map<string, Made>();

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    demo = createDemoApi(stack.apiUrl, stack.apiKey);
    targets = await startSandboxTargets();
    const model = `stand-in-${randomUUID()}`;
    // Of the models of a test stack, this one accepts images and PDF.
    const ofFiles = 'model-that-reads-pdf';
    for (const name of [model, ofFiles]) stack.modelProvider.script(name, standIn);
    const project = await demo.createProject('Samples');
    const ids = new Map<string, number>();
    const services = new Map<string, string>();
    for (const loaded of loadSamples()) {
      const settings = { base_url: targets.url, model: loaded.files === undefined ? model : ofFiles };
      await addServices(demo, { project, baseUrl: targets.url }, loaded, services);
      const sample = placeSample(loaded, settings, ids, services);
      const workflowId = await demo.createWorkflow(project, sample.title, sample.data);
      ids.set(sample.name, workflowId);
      made.set(sample.name, { sample, workflowId });
    }
  });
  after(() => targets.close());

  /** `answers` are by the type of the waiting node. `change` edits a copy of the drawing before it runs. */
  async function run(
    name: string,
    answers: Record<string, Answer> = {},
    { input = {}, change = {}, attend }: { input?: object; change?: Record<string, object>; attend?: Attend } = {},
  ): Promise<SampleRun> {
    const { sample, workflowId } = made.get(name)!;
    const nodes = sample.data.nodes.map((node) => ({ ...node, data: { ...node.data, ...change[node.type] } }));
    const given = nodes.flatMap(({ id, type }) => (answers[type] === undefined ? [] : [[id, answers[type]] as const]));
    const told = { ...sample, answers: { ...sample.answers, ...Object.fromEntries(given) } };
    const saved = await api.patch(`/workflows/${workflowId}/`, { body: { data: { ...sample.data, nodes } } });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    const { id: runId } = await demo.startRun(workflowId, { ...sample.input, ...input }, filesOfSample(sample));
    return { sample, workflowId, runId, ...(await attendToEnd(demo, told, runId, attend)) };
  }

  async function outputOf(...given: Parameters<typeof run>): Promise<unknown> {
    const { state } = await run(...given);
    assert.equal(state.status, 'succeed', JSON.stringify(state.data));
    return state.output;
  }

  for (const { name, title } of loadSamples()) {
    it(`"${title}" gives its expected output, and the check has no warnings`, async () => {
      const { sample, workflowId } = made.get(name)!;
      assert.deepEqual(await outputOf(name), sample.output);
      const { body } = await api.get<{ warnings: object[] }>(`/workflows/${workflowId}/check_workflow/`);
      assert.deepEqual(body.warnings, []);
    });
  }

  it('have between them a node of every kind except a tool call without an agent', () => {
    const types = new Set([...made.values()].flatMap(({ sample }) => sample.data.nodes.map(({ type }) => type)));
    const absent = (Object.keys(kinds) as NodeKind[]).filter((kind) => !types.has(nodeDefinitions[kind].type));
    assert.deepEqual(absent, ['mcp']);
  });

  it('screens invoices: the iteration of the one that cannot be read fails alone', async () => {
    const { workflowId, runId, sample, state } = await run('invoice-screening');
    const each = sample.data.nodes.find(({ type }) => type === 'for-each-node')!.id;
    const { total, failed } = state.data![each]!.iterations!;
    assert.deepEqual([total, failed], [5, 1]);
    assert.deepEqual(await demo.failedIterations(workflowId, runId, each), [`${each}[4]`]);
  });

  it('runs the screening for each supplier, as runs of their own that cost their own money', async () => {
    const { workflowId, runId } = await run('supplier-round');
    const parent = await demo.finishedRun(workflowId, runId);
    const { body } = await api.get<{ items: { parent_run_id: string; parent_path: string; cost: { USD: string } }[] }>(
      `/runs/?workflow=${made.get('invoice-screening')!.workflowId}&size=100`,
    );
    const children = body.items.filter(({ parent_run_id: of }) => of === runId);
    assert.deepEqual(
      children.map(({ parent_path: path }) => /\[(\d)\]$/.exec(path)?.[1] ?? '').toSorted(),
      ['0', '1', '2'],
      'the third one has failed',
    );
    const total = children.reduce((sum, { cost }) => sum + usd(cost), usd(parent.cost));
    assert.ok(total > 0 && Math.abs(total - usd(parent.total_cost)) < 1e-9, `${total} ${usd(parent.total_cost)}`);
  });

  it('publishes nothing that a person rejects, or nobody decides in time', async () => {
    const rejected = { 'human-node': { action: 'reject', values: { channel: 'blog' }, comment: 'Too loud.' } };
    const no = { status: 'rejected', rounds: 2, comment: 'Too loud.' };
    assert.deepEqual(await outputOf('announcement-review', rejected), no);
    const expiring = { change: { 'human-node': { timeout: 0 } }, attend: nobody };
    const { state } = await run('announcement-review', {}, expiring);
    assert.deepEqual([state.status, state.output], ['succeed', { status: 'expired', code: 'human_timeout' }]);
  });

  it('cancels an order that is not paid, or not in time, or not approved; ships at once what is in stock', async () => {
    const cancelled = { order: '7702', status: 'cancelled' };
    const declined = { 'wait-node': { body: { status: 'declined' } } };
    const noApproval = { 'agent-node': { decision: 'reject', reason: 'Too dear.' } } as const;
    assert.deepEqual(await outputOf('order-payment', declined), { ...cancelled, payment: 'declined', purchase: '' });
    const expiring = { change: { 'wait-node': { timeout: 0 } }, attend: nobody };
    assert.deepEqual(await outputOf('order-payment', {}, expiring), {
      ...cancelled,
      payment: 'wait_timeout',
      purchase: '',
    });
    assert.deepEqual(await outputOf('order-payment', noApproval), {
      ...cancelled,
      payment: 'paid',
      purchase: 'approval_rejected',
    });
    assert.deepEqual(await outputOf('order-payment', {}, { input: { order: '7703' } }), {
      order: '7703',
      status: 'shipped',
      payment: 'P-1',
      from: 'stock',
    });
  });

  it('answers a ticket by three actions of a service, of which one asks, and sends nothing that a person rejects', async () => {
    const { done } = await run('help-desk-clerk');
    const answer = { ticket: 'T-17', text: 'We are sorry. A bulb is on its way to you.' };
    assert.deepEqual(done, [
      `"Clerk" asked to call answer_ticket with ${JSON.stringify(answer)}. The demo has approved it.`,
    ]);
    const rejected = { 'agent-node': { decision: 'reject', reason: 'Not in stock.' } } as const;
    const { said } = (await outputOf('help-desk-clerk', rejected)) as { said: string };
    assert.ok(!said.includes('accepted'), said);
    assert.match(said, /Not in stock/);
  });

  it('say in sentences what was done while they waited', async () => {
    const { done } = await run('order-payment');
    assert.deepEqual(done, [
      '"Wait for the payment" waited for a callback. The demo has called back with {"status":"paid","reference":"P-1"}.',
      '"Order from the supplier" asked to call order_from_supplier with {"item":"standing desk","quantity":1}. The demo has approved it.',
    ]);
  });
});
