// Many runs that wait. Extensions, section 1.2: waiting costs nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../support/api-client.js';
import { collectGarbage, WITH_INSPECTOR } from '../support/collect-garbage.js';
import { eventually } from '../support/eventually.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../support/graphs.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type TestStack } from '../support/stack.js';
import { callBack, callbackUrlOf, taskOf } from '../support/waiting.js';

/** `WAITING_RUNS=10000` takes a quarter of an hour on two cores. */
const RUNS = Number(process.env['WAITING_RUNS'] ?? 1_500);
/** The number of waiting runs for which the limit is said. */
const RUNS_OF_LIMIT = 10_000;
/** They may use so much more memory than none. */
const MAX_GROWTH = 0.1;
/** Runs that have waited and ended before anything is measured, of each kind. */
const WARM_UP = 100;
const AT_ONCE = 10;
/** The figures of short-lived things: connections, timers of requests, log lines. */
const SETTLE_MS = 5_000;
const LONG = { timeoutMs: 120_000, intervalMs: 250 };

type Part = 'api' | 'worker';

/** In bytes. */
interface Memory {
  resident: number;
  /** What all heaps of the process hold after a collection. */
  held: number;
}

describe(`${RUNS} runs that wait for a time, for a callback, or for a person`, function () {
  this.timeout(3_600_000);
  let stack: TestStack;
  let api: ApiClient;
  /** By what its runs wait for. */
  let workflows: Record<'time' | 'callback' | 'human', { id: number; node: DrawingNode }>;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    stack = await startStack({ env: WITH_INSPECTOR });
    await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 1000000');
    api = createApiClient(stack.apiUrl, stack.apiKey);
    const project = await api.createProject();
    const create = async (waiting: DrawingNode) => {
      const nodes = linkInRow([trigger(), waiting, node('set', { value: 'done' })]);
      return { id: await api.createWorkflow(project, drawing(nodes)), node: waiting };
    };
    workflows = {
      time: await create(node('wait', { seconds: '{{ input.seconds }}' })),
      callback: await create(node('wait', { mode: 'callback' })),
      human: await create(node('human', { message: 'Well?' })),
    };
  });
  after(() => stack?.stop());

  /** `total` runs, a third of them of each kind. Returns their ids by the kind. */
  async function startRuns(total: number, seconds: number): Promise<Record<keyof typeof workflows, string[]>> {
    const started: Record<keyof typeof workflows, string[]> = { time: [], callback: [], human: [] };
    const kinds = Object.keys(workflows) as (keyof typeof workflows)[];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let index = next++; index < total; index = next++) {
        const kind = kinds[index % kinds.length]!;
        const { status, data } = await api.run(workflows[kind].id, { seconds });
        assert.equal(status, 201);
        started[kind].push(data.id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return started;
  }

  async function count(text: string): Promise<number> {
    return (await queryDatabase<{ count: number }>(stack, `SELECT count(*)::integer AS count FROM ${text}`))[0]!.count;
  }

  const openRuns = () => count("runs WHERE status = 'In Progress'");

  /** The runs have waited, and have ended as they do. */
  async function warmUp(): Promise<void> {
    const { callback, human } = await startRuns(WARM_UP * 3, 1);
    for (const runId of callback) {
      const url = await callbackUrlOf(api, runId, workflows.callback.node.id);
      assert.deepEqual(await callBack(url, 'here'), { status: 200, accepted: true });
    }
    for (const runId of human) {
      const task = await taskOf(api, runId, workflows.human.node.id);
      assert.equal((await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } })).status, 200);
    }
    await eventually(async () => (await openRuns()) === 0, LONG);
  }

  async function measure(): Promise<Record<Part, Memory>> {
    await pause(SETTLE_MS);
    const of = async (part: Part): Promise<Memory> => {
      const pid = stack.stack.pids[part]!;
      const held = await collectGarbage(pid, path.join(stack.dataDir, 'logs', `${part}.log`));
      const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
      return { held, resident: Number(kibibytes) * 1024 };
    };
    return { api: await of('api'), worker: await of('worker') };
  }

  it(`add less to the memory of worker and API than a tenth, by ${RUNS_OF_LIMIT} of them`, async () => {
    await warmUp();
    const { pids } = stack.stack;
    const before = await measure();
    await startRuns(RUNS, 24 * 3600);
    await eventually(
      async () => (await count('waits WHERE closed_at IS NULL AND answered_at IS NULL AND until > now()')) === RUNS,
      LONG,
    );
    assert.equal(await openRuns(), RUNS);
    const after = await measure();
    assert.deepEqual(stack.stack.pids, pids, 'the same processes');
    for (const part of ['worker', 'api'] as const) {
      const { resident, held } = before[part];
      const perRun = (after[part].held - held) / RUNS;
      const growth = after[part].resident / resident - 1;
      const mebibytes = [resident, after[part].resident, held, after[part].held].map((bytes) =>
        (bytes / 2 ** 20).toFixed(1),
      );
      const figures = `${part}: resident and held MiB, before and with ${RUNS} waiting runs: ${mebibytes.join(', ')}; ${perRun.toFixed(0)} bytes held for each`;
      process.stdout.write(`      ${figures}\n`);
      assert.ok(growth <= MAX_GROWTH, figures);
      assert.ok(perRun * RUNS_OF_LIMIT <= MAX_GROWTH * resident, figures);
    }
  });
});
