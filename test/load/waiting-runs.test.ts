// Many waiting runs need nothing but their timers (docs/use/nodes.md, "Wait"), so they hardly add to the memory.
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { collectGarbage, WITH_INSPECTOR } from '../../harness/processes/collect-garbage.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { rssMiB } from '../../harness/processes/figures.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { callBack, callbackUrlOf, taskOf } from '../support/waiting.js';

/** Fewer runs grow the memory too little to measure it. `WAITING_RUNS=10000` takes six minutes on two idle cores. */
const RUNS = Number(process.env['WAITING_RUNS'] ?? 3_000);
/** This many runs fill the worker's cache of runs. */
const FIRST = 400;
/** The number of waiting runs to which the limit applies. */
const RUNS_OF_LIMIT = 10_000;
/** The share by which that many runs may increase the memory. */
const MAX_GROWTH = 0.1;
/** The number of runs of each kind that have waited and ended before the measurement. */
const WARM_UP = 60;
const AT_ONCE = 10;
/** Runs are accepted faster than they start, so each batch is started only once the runs of the last batch wait. */
const BATCH = 250;
/** The warm-up has reached the plateau when a batch adds at most this share to the resident memory. */
const PLATEAU_GROWTH = 0.01;
/** The warm-up ends after this many further batches in any case. */
const MAX_PLATEAU_BATCHES = 20;
/** Short-lived objects disappear in this time: connections, timers of requests, log lines. */
const SETTLE_MS = 5_000;
const MORE_MEASUREMENTS = 10;
const LONG = { timeoutMs: 120_000, intervalMs: 250 };

const PARTS = ['worker', 'api'] as const;
type Part = (typeof PARTS)[number];

/** The kinds of waits. */
const KINDS = ['time', 'callback', 'human'] as const;
type Kind = (typeof KINDS)[number];

/** All figures are in bytes. */
interface Memory {
  resident: number;
  /** The size of all heaps of the process after a garbage collection. */
  held: number;
}

describe(`${RUNS} runs that wait for a time, for a callback, or for a person`, function () {
  this.timeout(3_600_000);
  let stack: TestStack;
  let api: ApiClient;
  /** The workflows by the kind of wait of their runs. */
  let workflows: Record<Kind, { id: number; node: DrawingNode }>;

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

  /** Starts `total` runs, the same number of each kind. Returns their ids by the kind. */
  async function startRuns(
    total: number,
    seconds: number,
    kinds: readonly Kind[] = KINDS,
  ): Promise<Record<Kind, string[]>> {
    const started: Record<Kind, string[]> = { time: [], callback: [], human: [] };
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

  /** Runs as many runs to their end as will wait later, so that caches are full before the measurement. */
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
    for (let missing = RUNS - WARM_UP * 3; missing > 0; missing -= BATCH) await runBatch(Math.min(BATCH, missing));
    await reachPlateau();
  }

  async function runBatch(size: number): Promise<void> {
    await startRuns(size, 0, ['time']);
    await eventually(async () => (await openRuns()) === 0, LONG);
  }

  /**
   * Runs further batches until the resident memory no longer grows. A process keeps the memory of its peak of concurrent
   * requests, so the base must include this peak: otherwise the growth by a later peak would count for the waiting runs.
   */
  async function reachPlateau(): Promise<void> {
    const peaks = residentMemory();
    for (let batches = 0; batches < MAX_PLATEAU_BATCHES; batches += 1) {
      await runBatch(BATCH);
      const now = residentMemory();
      const hasGrown = PARTS.some((part) => now[part] > peaks[part] * (1 + PLATEAU_GROWTH));
      for (const part of PARTS) peaks[part] = Math.max(peaks[part], now[part]);
      if (!hasGrown) return;
    }
  }

  function residentMemory(): Record<Part, number> {
    const of = (part: Part): number => rssMiB(stack.stack.pids[part]) * 1024 * 1024;
    return { api: of('api'), worker: of('worker') };
  }

  async function measure(): Promise<Record<Part, Memory>> {
    await pause(SETTLE_MS);
    const of = async (part: Part): Promise<Memory> => {
      const held = await collectGarbage(stack.stack.pids[part]!, path.join(stack.dataDir, 'logs', `${part}.log`));
      return { held, resident: residentMemory()[part] };
    };
    return { api: await of('api'), worker: await of('worker') };
  }

  /** Starts `more` runs, and resolves once they wait. */
  async function letWait(more: number): Promise<void> {
    const open = 'waits WHERE closed_at IS NULL AND answered_at IS NULL AND until > now()';
    const wanted = (await openRuns()) + more;
    for (let missing = more; missing > 0; missing -= BATCH) {
      await startRuns(Math.min(BATCH, missing), 24 * 3600);
      const running = await openRuns();
      await eventually(async () => (await count(open)) === running, LONG);
    }
    assert.equal(await openRuns(), wanted);
  }

  it(`add less than a tenth to the memory of worker and API, by ${RUNS_OF_LIMIT} of them`, async () => {
    await warmUp();
    const { pids } = stack.stack;
    const none = await measure();
    await letWait(FIRST);
    const first = await measure();
    await letWait(RUNS - FIRST);
    const compare = (all: Record<Part, Memory>, part: Part) => {
      const perRun = (all[part].held - first[part].held) / (RUNS - FIRST);
      const growth = first[part].held - none[part].held + perRun * (RUNS_OF_LIMIT - FIRST);
      const figures = [
        `${part}, with none, ${FIRST} and ${RUNS} waiting runs:`,
        `${[none, first, all].map((at) => toMib(at[part].resident)).join(', ')} MiB resident,`,
        `${[none, first, all].map((at) => toMib(at[part].held)).join(', ')} held;`,
        `${perRun.toFixed(0)} bytes for each further one, ${toMib(growth)} MiB for ${RUNS_OF_LIMIT}`,
      ].join(' ');
      const limit = MAX_GROWTH * none[part].resident;
      return { figures, isWithin: all[part].resident - none[part].resident <= limit && growth <= limit };
    };
    // A process that was busy may return memory to the system only after later garbage collections.
    let all = await measure();
    const isWithin = (): boolean => PARTS.every((part) => compare(all, part).isWithin);
    for (let more = 0; more < MORE_MEASUREMENTS && !isWithin(); more++) all = await measure();
    assert.deepEqual(stack.stack.pids, pids, 'the same processes');
    for (const part of PARTS) {
      const { figures, isWithin: isPartWithin } = compare(all, part);
      process.stdout.write(`      ${figures}\n`);
      assert.ok(isPartWithin, figures);
    }
  });
});

function toMib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
