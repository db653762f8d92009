// Megabytes in every node: memory stays within a limit, however many nodes and callers there are.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Agent, request } from 'undici';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, resultOf, trigger, condition, fanOut } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { peakRssMiB } from '../../harness/processes/figures.js';

const PAYLOAD_BYTES = 5_000_000;
const WIDTH = 20;
const READERS = 10;
/**
 * 64 MB of payloads, the process itself, and as much again that is not yet garbage-collected. Without the budget, the
 * worker took 1,000 MiB more.
 */
const WORKER_BOUND_MIB = 800;
/** Responses of 100 MB to each of 10 readers would take thousands of MiB if they were built in memory. */
const API_BOUND_MIB = 700;

describe('payloads of 5 MB', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let target: HttpTarget;
  let api: ApiClient;
  let agent: Agent;
  let runId: string;

  before(async () => {
    [stack, target] = await Promise.all([startStack({ env: { WORKER_PAYLOAD_MEMORY_MB: '64' } }), startHttpTarget()]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
    agent = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 });
  });
  after(async () => {
    await agent.close();
    await target.close();
    await stack.stop();
  });

  const largeNode = (index: number) => http(`${target.url}/bytes/${PAYLOAD_BYTES}/${index}`);

  it('side by side in 20 nodes they succeed, each called once, and the worker stays small', async () => {
    const run = await startRun(fanOut(WIDTH, largeNode));
    runId = run;
    const statuses = await endOf(run);
    assert.deepEqual(statuses, Array<string>(WIDTH + 1).fill('succeed'));
    assert.equal(target.requests.length, WIDTH);
    const peakMiB = peakRssMiB(stack.stack.pids.worker);
    assert.ok(peakMiB < WORKER_BOUND_MIB, `the worker took ${Math.round(peakMiB)} MiB`);
  });

  it('a node that uses more payloads than the budget holds still gets them all', async () => {
    const start = trigger();
    const sources = Array.from({ length: 4 }, (_, index) => largeNode(index));
    const compared = condition(sources.map((source) => resultOf(source)).join(''), '!=', '');
    link(start, sources);
    for (const source of sources) link(source, compared);
    const statuses = await endOf(await startRun(drawing([start, ...sources, compared])));
    assert.deepEqual(statuses, Array<string>(6).fill('succeed'));
  });

  it('10 callers at once get the whole 100 MB, every byte of it, and the API stays small', async () => {
    const answers = await Promise.all(Array.from({ length: READERS }, () => digestOf(runId)));
    assert.deepEqual(new Set(answers.map(({ digest }) => digest)).size, 1);
    const body = JSON.parse(await textOf(runId)) as PollBody;
    const results = Object.values(body.data.data).flatMap(({ result }) => (result.status_code === 200 ? result : []));
    assert.equal(results.length, WIDTH);
    for (const { content } of results) assert.ok(content === 'x'.repeat(PAYLOAD_BYTES), 'what the target sent');
    const peakMiB = peakRssMiB(stack.stack.pids.api);
    assert.ok(peakMiB < API_BOUND_MIB, `the API took ${Math.round(peakMiB)} MiB`);
  });

  it('callers that do not read hold no database connection, and others are answered meanwhile', async () => {
    const stalled = await Promise.all(
      Array.from({ length: 30 }, () => request(pollUrl(runId), { headers: keyOf(stack), dispatcher: agent })),
    );
    try {
      await eventually(async () => {
        const [row] = await queryDatabase<{ busy: number }>(
          stack,
          `SELECT count(*)::integer AS busy FROM pg_stat_activity WHERE application_name = 'api' AND state <> 'idle'`,
        );
        return row!.busy === 0;
      });
      const quick = await api.runToEnd(drawing([trigger()]));
      assert.equal(quick.status, 'succeed');
    } finally {
      for (const { body } of stalled) body.on('error', () => undefined).destroy();
    }
    await eventually(async () => (await digestOf(runId)).sizeBytes > WIDTH * PAYLOAD_BYTES);
  });

  async function startRun(data: object): Promise<string> {
    const workflowId = await api.createWorkflow(await api.createProject(), data);
    return (await api.run(workflowId)).data.id;
  }

  /** Reads the statuses of the nodes from the database, because other tests here measure polls. */
  async function endOf(run: string): Promise<string[]> {
    await eventually(
      async () => {
        const [row] = await queryDatabase<{ status: string }>(stack, 'SELECT status FROM runs WHERE id = $1', [run]);
        return row?.status !== 'In Progress';
      },
      { timeoutMs: 90_000, intervalMs: 100 },
    );
    const text = 'SELECT status FROM node_results WHERE run_id = $1';
    return (await queryDatabase<{ status: string }>(stack, text, [run])).map(({ status }) => status);
  }

  function pollUrl(run: string): string {
    return `${stack.apiUrl}/api/v1/workflows/workflow_result/?id=${run}`;
  }

  async function digestOf(run: string): Promise<{ digest: string; sizeBytes: number }> {
    const { statusCode, body } = await request(pollUrl(run), { headers: keyOf(stack), dispatcher: agent });
    assert.equal(statusCode, 200);
    const hash = createHash('sha1');
    let sizeBytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    return { digest: hash.digest('hex'), sizeBytes };
  }

  async function textOf(run: string): Promise<string> {
    const { body } = await request(pollUrl(run), { headers: keyOf(stack), dispatcher: agent });
    return body.text();
  }
});

interface PollBody {
  data: { data: Record<string, { result: { content: string; status_code?: number } }> };
}

function keyOf({ apiKey }: TestStack): Record<string, string> {
  return { 'x-api-key': apiKey };
}
