import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createCodecServer } from '../../cli/codec-server/server.js';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { findSchedule, inTemporal, makeSchedule, untilFired, untilTold } from '../api/schedules/schedule-maker.js';
import { createPayloadCodec } from '../../config/payload-encryption.js';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  chain,
  condition,
  drawing,
  http,
  link,
  llm,
  trigger,
  type Drawing,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, toText, withTemporal } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';

const TOKEN = 'codec-token-0123456789';
const LABEL = 'Canary label';
/** The title is as long as a summary may be, in characters of several bytes. */
const TITLE = 'Канарейка '.repeat(25);

describe('with TEMPORAL_PAYLOAD_KEY', function () {
  this.timeout(300_000);
  const [first, second] = [randomBytes(32), randomBytes(32)];
  let dataDir: string;
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    dataDir = makeDataDir();
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
    await start(first);
  });
  after(async () => {
    await Promise.all([stack.stop(), target.close(), tools.close()]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(...keys: Buffer[]): Promise<void> {
    const TEMPORAL_PAYLOAD_KEY = keys.map((key) => key.toString('base64')).join(',');
    stack = await startStack({ dataDir, env: { TEMPORAL_PAYLOAD_KEY } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    stack.modelProvider.script('encrypted', (request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'done' }
        : { toolCalls: [{ name: 'note', arguments: { text: 'x' } }] },
    );
  }

  async function restart(...keys: Buffer[]): Promise<void> {
    await stack.stop();
    await start(...keys);
  }

  /** A drawing of a trigger, a condition, an HTTP request, a model and an agent that asks for an approval. */
  function draw(): Drawing {
    const label = { label: LABEL };
    const [begin, check] = [trigger([], label), condition('1', '==', '1', label)];
    const call = http(`${target.url}/echo`, label);
    const model = llm('Say it', label);
    const server = { endpoint_url: tools.url, require_approval: 'always' };
    const asked = agent('Note it', { model_name: 'encrypted' }, [server], label);
    link(begin, check);
    link(check, call);
    link(call, model);
    link(model, asked);
    return drawing([begin, check, call, model, asked]);
  }

  async function startRun(data = draw()): Promise<string> {
    const workflow = await api.createWorkflow(await api.createProject(), data, TITLE.trim());
    const started = await api.run(workflow);
    assert.equal(started.status, 201, JSON.stringify(started));
    return started.data.id;
  }

  const pending = (runId: string): Promise<string> =>
    eventually(
      async () => {
        const { body } = await api.get<{ request_id: string; status: string }[]>(
          `/workflows/workflow_run/${runId}/agent-approval/`,
        );
        return body.find(({ status }) => status === 'pending')?.request_id;
      },
      { timeoutMs: 30_000 },
    );

  async function approve(runId: string): Promise<void> {
    const requestId = await pending(runId);
    const { body } = await api.post<Envelope>(`/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`);
    assert.equal(body.status, 200);
  }

  async function withCodecServer<T>(keys: Buffer[], use: (url: string) => Promise<T>): Promise<T> {
    const fail = (error: unknown): never => {
      throw error;
    };
    const codec = createPayloadCodec(keys);
    const server: Server = createCodecServer({ codec, token: TOKEN, allowedOrigin: undefined, onError: fail });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  /** The output of `temporal workflow show`, with its base64 decoded. */
  async function show(runId: string, codecUrl?: string): Promise<string> {
    const binary = await findTemporalBinary({
      configured: process.env['TEMPORAL_CLI'],
      env: process.env,
      report: () => undefined,
      signal: new AbortController().signal,
    });
    const args = ['workflow', 'show', '--workflow-id', runId, '--address', stack.stack.temporal_address];
    if (codecUrl !== undefined) args.push('--codec-endpoint', codecUrl, '--codec-auth', `Bearer ${TOKEN}`);
    const { stdout } = await promisify(execFile)(binary, [...args, '--output', 'json'], {
      env: { PATH: process.env['PATH'], HOME: dataDir },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.replace(/"data": "([^"]*)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
  }

  const rawHistory = async (runId: string): Promise<string> =>
    (await historyOf(stack, runId)).map(({ text }) => text).join('\n');

  it('a run of every kind of node ends well, and its history can be read with the codec server only', async () => {
    const runId = await startRun();
    await pending(runId);
    const description = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
    const raw = toText(description.raw);
    for (const text of [LABEL, 'Канарейка', '/api/v1/workflows']) assert.ok(!raw.includes(text), text);
    await approve(runId);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    // The run has ended for readers before its workflow has: an activity writes the end.
    await eventually(async () => {
      const { status } = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      return status.name === 'COMPLETED';
    });

    const events = await historyOf(stack, runId);
    const history = events.map(({ text }) => text).join('\n');
    const readable = [LABEL, 'Канарейка', '"plan"', 'maxInFlight', 'isApproved', '/api/v1/workflows'];
    for (const text of readable) assert.ok(!history.includes(text), `the history holds ${text}`);
    assert.ok(history.includes('binary/encrypted'));
    // Search attributes are never encrypted, and neither are the type and the number of a local activity in its marker.
    const types = ['activityTaskScheduled', 'activityTaskCompleted', 'workflowExecutionSignaled'];
    const wholly = events.filter(({ type }) => types.includes(type));
    assert.deepEqual([...new Set(wholly.map(({ type }) => type))], types);
    for (const { type, text } of wholly) assert.ok(!text.includes('json/plain'), type);
    assert.ok(!(await show(runId)).includes(LABEL));
    const shown = await withCodecServer([first], (url) => show(runId, url));
    assert.ok(shown.includes(LABEL));
  });

  it('messages and stacks of failures are encrypted too; their codes are not', async () => {
    const [begin, call] = [trigger(), http(`${target.url}/status/404`)];
    link(begin, call);
    const runId = await startRun(drawing([begin, call]));
    const { data } = await api.pollToEnd(runId);
    assert.equal(data.status, 'failed');
    const history = await rawHistory(runId);
    for (const text of ['The node failed', 'The run failed', '.js:']) assert.ok(!history.includes(text), text);
    assert.match(history, /Encoded failure/);
    assert.ok(history.includes(data.data![call.id]!.error!.code));
    const shown = await withCodecServer([first], (url) => show(runId, url));
    assert.ok(shown.includes('The node failed'));
  });

  it('a new key in front: what waits under the old one goes on, and all of its history stays readable', async () => {
    const runId = await startRun();
    await pending(runId);
    await restart(second, first);
    await approve(runId);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    const shown = await withCodecServer([second, first], (url) => show(runId, url));
    assert.ok(shown.includes('isApproved'));
  });

  it('without the key the worker says so and the run waits; with it again, the run ends', async () => {
    const runId = await startRun();
    await pending(runId);
    await restart();
    await approve(runId);
    await eventually(() => stack.logs().includes('TEMPORAL_PAYLOAD_KEY: must be set'), { timeoutMs: 30_000 });
    // The worker fails the step that it cannot read, and the server tries it again.
    await eventually(async () => {
      const { raw } = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      return (raw.pendingWorkflowTask?.attempt ?? 0) > 1;
    });
    assert.equal((await api.poll(runId)).data.status, 'in progress');
    for (const key of [first, second]) assert.ok(!stack.logs().includes(key.toString('base64')));
    await restart(second, first);
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'succeed');
  });

  it('switched on while a run is under way, it goes on from what was in the clear', async () => {
    await restart();
    const runId = await startRun();
    await pending(runId);
    await restart(second);
    await approve(runId);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
  });

  it('a schedule that was made under one key fires under another, the first one being gone', async () => {
    await restart(second);
    const workflow = await api.createWorkflow(await api.createProject(), chain(1));
    const schedule = await makeSchedule(api, workflow);
    await restart(first);
    const found = await findSchedule(api, workflow, schedule.id);
    assert.equal((await untilTold(api, workflow, found)).next_run_times?.length, 5);
    await inTemporal(stack, schedule.id, (handle) => handle.trigger());
    const [fired] = await untilFired(stack, schedule, workflow, 1);
    assert.equal((await api.pollToEnd(fired!.run_id)).data.status, 'succeed');
  });
});
