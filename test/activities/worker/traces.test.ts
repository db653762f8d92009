import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';
import { agent, chain, drawing, http, inRow, link, llm, mcp, trigger } from '../../../harness/drawing/drawing.js';
import { backfill, findSchedule, makeSchedule } from '../../api/schedules/schedule-maker.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.js';
import { sharedStack } from '../../support/shared-stack.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';

const RUN_ROUTE = '/api/v1/workflows/:id/run/';
const hexOf = (value: string | undefined): string[] => String(value).split('-');

describe('a trace of a run', function () {
  this.timeout(120_000);
  let receiver: OtlpReceiver;
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let servers: FakeMcpServer;

  before(async () => {
    [receiver, target, servers] = await Promise.all([startOtlpReceiver(), startHttpTarget(), startFakeMcpServer()]);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      // Both requests are executed in one activity.
      EXECUTION: 'dense',
    };
    stack = await startStack({ env });
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });
  after(async () => {
    await Promise.all([stack.stop(), target.close(), servers.close(), receiver.close()]);
  });

  async function traceIdOf(runId: string): Promise<string> {
    const text = 'SELECT traceparent FROM runs WHERE id = $1';
    const [row] = await queryDatabase<{ traceparent: string | null }>(stack, text, [runId]);
    return hexOf(row?.traceparent ?? '')[1]!;
  }

  const named = (spans: ReceivedSpan[], name: string): ReceivedSpan[] => spans.filter((span) => span.name === name);
  const one = (spans: ReceivedSpan[], name: string): ReceivedSpan => {
    const found = named(spans, name);
    assert.equal(found.length, 1, `${name}: ${JSON.stringify(spans.map((span) => span.name))}`);
    return found[0]!;
  };
  const childrenOf = (spans: ReceivedSpan[], parent: ReceivedSpan): ReceivedSpan[] =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
  /** Returns true if the trace has the span that the API exports last and the one that the worker exports last. */
  const isWhole = (spans: ReceivedSpan[]): boolean =>
    named(spans, 'run').length === 1 && named(spans, 'finishRun').length === 1;

  it('leads from the request over the run and its nodes, those of one activity too, to each outgoing call, and on to the target', async () => {
    const [begin, get] = [trigger(), http(`${target.url}/get/one?token=hidden`)];
    const post = http(`${target.url}/post/one`, { method: 'POST', body: { a: 1 } });
    link(begin, get);
    link(get, post);
    const run = await api.runToEnd(drawing([begin, get, post]));
    assert.equal(run.status, 'succeed');
    const traceId = await traceIdOf(run.runId);
    const spans = await receiver.trace(traceId, isWhole);

    const request = one(spans, `POST ${RUN_ROUTE}`);
    assert.deepEqual([request.kind, request.service, request.parentSpanId], ['server', 'workflow-api', '']);
    assert.equal(request.attributes['http.route'], RUN_ROUTE);
    assert.equal(request.attributes['http.response.status_code'], 200);
    assert.equal(request.attributes['run.id'], run.runId);
    const start = one(spans, 'temporal start');
    assert.equal(start.parentSpanId, request.spanId);
    const whole = one(spans, 'run');
    assert.equal(whole.parentSpanId, request.spanId);
    assert.equal(whole.attributes['run.id'], run.runId);
    assert.equal(whole.attributes['run.status'], 'Succeeded');
    assert.equal(whole.attributes['workflow.id'], run.workflowId);
    assert.ok(whole.endMs >= whole.startMs);

    for (const [node, method] of [
      [get, 'GET'],
      [post, 'POST'],
    ] as const) {
      const [activity] = childrenOf(spans, whole).filter(({ attributes }) => attributes['node.id'] === node.id);
      assert.ok(activity, method);
      assert.equal(activity.service, 'workflow-worker');
      assert.equal(activity.name, 'httpRequest');
      assert.equal(activity.attributes['run.id'], run.runId);
      assert.equal(activity.attributes['node.kind'], 'http');
      assert.equal(activity.attributes['node.attempt'], 1);
      assert.equal(activity.attributes['temporal.activity.local'], false, method);
      const call = childrenOf(spans, activity).find(({ name }) => name === method);
      assert.ok(call, method);
      assert.equal(call.kind, 'client');
      assert.equal(call.attributes['http.response.status_code'], 200);
      assert.equal(call.attributes['server.address'], '127.0.0.1');
      assert.equal(call.attributes['server.port'], Number(new URL(target.url).port));
      const [seen] = target.requestsTo(`/${method.toLowerCase()}/one`);
      assert.equal(seen?.headers['traceparent'], `00-${traceId}-${call.spanId}-01`);
    }
    assert.equal(one(spans, 'finishRun').parentSpanId, whole.spanId);
    assert.doesNotMatch(JSON.stringify(spans), /hidden|get\/one/);
  });

  it('is told to MCP servers, not to model providers, and never over a traceparent of the node', async () => {
    const endpoint = servers.endpoint();
    const own = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const given = http(`${target.url}/own`, { headers: { TraceParent: own } });
    const tool = mcp(endpoint.url, 'echo', {});
    const model = llm('hello');
    let modelHeaders: Record<string, unknown> = {};
    stack.modelProvider.script('test-model', ({ headers }) => {
      modelHeaders = headers;
      return { text: 'hi' };
    });
    const begin = trigger();
    link(begin, [given, tool, model]);
    const run = await api.runToEnd(drawing([begin, given, tool, model]));
    assert.equal(run.status, 'succeed');
    const traceId = await traceIdOf(run.runId);
    const spans = await receiver.trace(traceId, isWhole);
    const called = endpoint.requests.find(({ method }) => method === 'tools/call');
    assert.equal(hexOf(called?.headers['traceparent'] as string)[1], traceId);
    const activity = spans.find(({ name }) => name === 'mcpTool')!;
    assert.ok(
      childrenOf(spans, activity).some(({ spanId }) => spanId === hexOf(called?.headers['traceparent'] as string)[2]),
    );
    assert.equal(target.requestsTo('/own')[0]?.headers['traceparent'], own);
    assert.ok(Object.keys(modelHeaders).length > 0 && !('traceparent' in modelHeaders));
    const asked = childrenOf(spans, one(spans, 'llmRequest')).find(({ kind }) => kind === 'client');
    assert.equal(asked?.attributes['gen_ai.provider.name'], 'fake');
    assert.equal(asked?.attributes['http.response.status_code'], 200);
  });

  it('goes on where the caller has begun it, and ends with the codes of what failed', async () => {
    const caller = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
    const project = await api.createProject();
    const workflow = await api.createWorkflow(
      project,
      chain(2, () => http('http://{{ input.host }}/status/404')),
    );
    const { body } = await api.post<{ data: { id: string } }>(`/workflows/${workflow}/run/`, {
      body: { host: new URL(target.url).host },
      headers: { traceparent: caller, tracestate: 'vendor=private', baggage: 'user=private' },
    });
    await api.pollToEnd(body.data.id);
    const spans = await receiver.trace('c'.repeat(32), isWhole);
    assert.equal(one(spans, `POST ${RUN_ROUTE}`).parentSpanId, 'd'.repeat(16));
    const whole = one(spans, 'run');
    assert.deepEqual([whole.isError, whole.attributes['error.type']], [true, 'http_status']);
    const activity = one(spans, 'httpRequest');
    assert.deepEqual([activity.isError, activity.attributes['error.type']], [true, 'http_status']);
    const call = one(spans, 'GET');
    assert.equal(call.attributes['http.response.status_code'], 404);
    assert.equal(call.attributes['server.address'], undefined, 'it was made of an input');
    const [seen] = target.requestsTo('/status/404');
    assert.equal(hexOf(seen?.headers['traceparent'] as string)[1], 'c'.repeat(32));
    assert.equal(seen?.headers['tracestate'] ?? seen?.headers['baggage'], undefined);
  });

  it('begins with the firing of a schedule that started the run', async () => {
    const call = http(`${target.url}/get/scheduled`);
    const workflow = await api.createWorkflow(await api.createProject(), drawing(inRow(trigger(), call)));
    const schedule = await makeSchedule(api, workflow);
    const [start, end] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:00:01Z')];
    await backfill(stack, schedule.id, { start, end });
    const { run_id: runId } = await eventually(
      async () => (await findSchedule(api, workflow, schedule.id)).last_firing ?? undefined,
    );
    await api.pollToEnd(runId!);
    const spans = await receiver.trace(await traceIdOf(runId!), isWhole);
    const firing = one(spans, 'acceptFiring');
    assert.deepEqual([firing.service, firing.parentSpanId], ['workflow-worker', '']);
    assert.equal(firing.attributes['schedule.id'], schedule.id);
    assert.equal(one(spans, 'run').parentSpanId, firing.spanId);
    assert.equal(one(spans, 'httpRequest').parentSpanId, one(spans, 'run').spanId);
    const [seen] = target.requestsTo('/get/scheduled');
    assert.equal(hexOf(seen?.headers['traceparent'] as string)[1], await traceIdOf(runId!));
  });

  it('goes on in another worker after the first has died, and in a run that the reconciler starts late', async () => {
    const project = await api.createProject();
    const workflow = await api.createWorkflow(
      project,
      chain(2, () => http(`${target.url}/slow`)),
    );
    target.on('/slow', [{ delayMs: 60_000 }, { body: 'ok' }]);
    const { temporal } = stack.stack.pids;
    // Temporal accepts the start, does not answer in time, and is killed before it has processed it.
    process.kill(temporal!, 'SIGSTOP');
    const runId = (await api.run(workflow)).data.id;
    // After this time, the API no longer waits for the answer.
    await pause(2_500);
    process.kill(temporal!, 'SIGKILL');
    await eventually(() => target.requestsTo('/slow').length === 1, { timeoutMs: 60_000 });
    process.kill(stack.stack.pids.worker!, 'SIGKILL');
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000, intervalMs: 100 })).data.status, 'succeed');
    const traceId = await traceIdOf(runId);
    const spans = await receiver.trace(traceId, isWhole);
    const calls = target.requestsTo('/slow').map(({ headers }) => hexOf(headers['traceparent'] as string)[1]);
    assert.deepEqual(calls, [traceId, traceId]);
    const whole = one(spans, 'run');
    assert.equal(one(spans, 'run started late').parentSpanId, whole.spanId);
    const node = one(spans, 'httpRequest');
    assert.deepEqual([node.parentSpanId, node.attributes['node.attempt']], [whole.spanId, 2]);
  });

  it('is pointed to by the requests that have to do with the run: an approval, a re-run', async () => {
    const endpoint = servers.endpoint();
    stack.modelProvider.script('traced-agent', ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'done' }
        : { toolCalls: [{ name: 'echo', arguments: {} }] },
    );
    const asked = agent('go', { model_name: 'traced-agent' }, [{ endpoint_url: endpoint.url }]);
    const project = await api.createProject();
    const workflow = await api.createWorkflow(
      project,
      chain(2, () => asked),
    );
    const { id: runId } = (await api.run(workflow)).data;
    const approvals = `/workflows/workflow_run/${runId}/agent-approval/`;
    const pending = await eventually(
      async () => (await api.get<{ request_id: string }[]>(approvals)).body[0]?.request_id,
      { timeoutMs: 20_000 },
    );
    await api.post(`${approvals}${pending}/approve/`);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    await api.post(`/workflows/${workflow}/history/${runId}/re-run/`);
    const spans = await receiver.trace(await traceIdOf(runId), isWhole);
    const whole = one(spans, 'run');
    assert.deepEqual(
      named(spans, 'agentTurn').map(({ parentSpanId }) => parentSpanId),
      [whole.spanId, whole.spanId],
    );
    const points = await eventually(() => {
      const to = receiver.spans.filter(({ links }) => links.includes(`${whole.traceId}/${whole.spanId}`));
      return to.length === 2 && to.map(({ name }) => name).toSorted();
    });
    assert.deepEqual(points, [
      'POST /api/v1/workflows/:id/history/:run_id/re-run/',
      'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/approve/',
    ]);
  });
});

describe('traces', function () {
  this.timeout(120_000);

  it('fail no run and hold up no stop while their receiver takes everything in and never answers', async () => {
    const receiver = await startOtlpReceiver({ hangs: true });
    const dataDir = makeDataDir();
    const stack = await startStack({
      dataDir,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        OTEL_BSP_MAX_QUEUE_SIZE: '20',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      },
    });
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const workflow = await api.createWorkflow(await api.createProject(), chain(5));
      const runs = await Promise.all(Array.from({ length: 20 }, () => api.run(workflow)));
      const ends = await Promise.all(runs.map(({ data }) => api.pollToEnd(data.id)));
      assert.deepEqual([...new Set(ends.map(({ data }) => data.status))], ['succeed']);
      await eventually(() => receiver.bodies.length > 0);
    } finally {
      await stack.stop();
      await receiver.close();
    }
    // Both processes would be killed before these lines if they waited for the receiver.
    for (const last of ['"msg":"stopped"', '"msg":"worker stopped"']) assert.ok(stack.logs().includes(last), last);
    rmSync(dataDir, { recursive: true });
  });

  it('are off unless asked for: nothing is stored or sent on', async () => {
    const [stack, target] = await Promise.all([sharedStack(), startHttpTarget()]);
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const { runId, status } = await api.runToEnd(chain(2, () => http(`${target.url}/plain`)));
      assert.equal(status, 'succeed');
      assert.equal(target.requests[0]?.headers['traceparent'], undefined);
      const text = 'SELECT traceparent FROM runs WHERE id = $1';
      assert.deepEqual(await queryDatabase(stack, text, [runId]), [{ traceparent: null }]);
    } finally {
      await target.close();
    }
  });
});
