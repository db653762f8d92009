// Code cannot harm the worker that runs it: each program ends as expected, and the worker goes on meanwhile.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reply } from '../../../../activities/kinds/code/child/messages.js';
import { createSandbox, type Sandbox } from '../../../../activities/kinds/code/sandbox.js';
import { parseJson } from '../../../../graph/json-text.js';
import { isEqualJson } from '../../../../graph/json.js';
import { ExactNumber } from '../../../../graph/exact-number.js';
import { HOSTILE_PROGRAMS, type Ending, type HostileProgram } from './hostile-programs.js';
import { ENTRY, NEVER, program } from './sandboxes.js';

/** The timeout of programs that end by themselves. It is long because the machine is busy with all the others. */
const LONG_MS = 30_000;
/** The timeout of programs that never end. */
const SHORT_MS = 400;
/** The longest delay of the worker's event loop on an otherwise quiet machine. */
const DELAY_LIMIT_MS = 100;
/** On a noisy machine, even an idle process is delayed: the limit is then this multiple of the idle delay. */
const NOISE_FACTOR = 3;
const BASELINE_MS = 4_000;
/** A program that delays the worker does so in each round; noise of the machine does not repeat. */
const ROUNDS = 3;

describe('hostile code', function () {
  this.timeout(300_000);
  let sandbox: Sandbox;
  let limitMs = DELAY_LIMIT_MS;

  before(async () => {
    sandbox = createSandbox(ENTRY);
    await runOne(['warm up', 'return 1', { value: 1 }], 1);
    const { delayMs } = await withSampler(() => pause(BASELINE_MS));
    limitMs = Math.max(DELAY_LIMIT_MS, NOISE_FACTOR * delayMs);
    process.stderr.write(`    idle event loop: ${delayMs.toFixed(0)} ms at most; limit: ${limitMs.toFixed(0)} ms\n`);
  });
  after(() => sandbox.close());

  function runOne([, code, ending]: HostileProgram, projectId: number): Promise<Reply | Error> {
    const endless = [ending].flat().includes('timeout');
    return sandbox
      .run(program(code, {}, endless ? SHORT_MS : LONG_MS), { projectId, signal: NEVER })
      .catch((error: Error) => error);
  }

  /** Returns a description of the wrong ending, or undefined if the program ended as expected. */
  function faultOf([title, , ending]: HostileProgram, reply: Reply | Error): string | undefined {
    if (reply instanceof Error) return `${title}: ${reply.message}`;
    const endings = Array.isArray(ending) ? ending : [ending];
    if (endings.some((each) => endsAs(reply, each))) return undefined;
    return `${title}: ${JSON.stringify(reply).slice(0, 300)}`;
  }

  /** Uses two projects, because one project may not use all sandbox processes. */
  function runAll(programs: HostileProgram[]): Promise<(Reply | Error)[]> {
    return Promise.all(programs.map((each, index) => runOne(each, 1 + (index % 2))));
  }

  it('are two hundred programs at least', () => {
    assert.ok(Object.values(HOSTILE_PROGRAMS).flat().length >= 200);
  });

  for (const [group, programs] of Object.entries(HOSTILE_PROGRAMS)) {
    it(`${group}: each program ends as it must, and the event loop of the worker is not delayed`, async () => {
      const delays: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const { result, delayMs } = await withSampler(() => runAll(programs));
        const faults = programs.map((each, index) => faultOf(each, result[index]!));
        assert.deepEqual(
          faults.filter((fault) => fault !== undefined),
          [],
        );
        delays.push(delayMs);
        if (delayMs <= limitMs) return;
      }
      assert.fail(`the event loop was delayed by ${delays.map((ms) => ms.toFixed(0)).join(', ')} ms each time`);
    });
  }

  it('leaves nothing behind for the next program', async () => {
    const code = `return [typeof process, ({}).polluted ?? null, [].x ?? null, Object.getOwnPropertyNames(globalThis).length > 40,
      JSON.stringify({ a: [1] }), inputs.name]`;
    for (const projectId of [1, 2]) {
      const reply = await sandbox.run(program(code, { name: 'Ada' }), { projectId, signal: NEVER });
      assert.deepEqual(reply, {
        status: 'returned',
        json: '["undefined",null,null,true,"{\\"a\\":[1]}","Ada"]',
        logs: [],
      });
    }
  });
});

type One = Exclude<Ending, unknown[]>;

function endsAs(reply: Reply, ending: One): boolean {
  if (typeof ending === 'string') return reply.status === ending;
  if ('failed' in ending) return reply.status === 'failed' && ending.failed.test(reply.message);
  return reply.status === 'returned' && isEqualJson(parseJson(reply.json), toExact(ending.value));
}

function toExact(value: unknown): unknown {
  return typeof value === 'bigint' ? new ExactNumber(String(value)) : value;
}

/** Measures the longest delay of this process's event loop while `work` runs. */
async function withSampler<T>(work: () => Promise<T>): Promise<{ result: T; delayMs: number }> {
  const resolution = 10;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  try {
    // The histogram measures from one of its timers to the next, so there must be one before the work and one after it.
    await pause(5 * resolution);
    const result = await work();
    await pause(5 * resolution);
    return { result, delayMs: histogram.max / 1e6 - resolution };
  } finally {
    histogram.disable();
  }
}
