// Sends valid requests of every route with random changes (mutations). FUZZ_SEED and FUZZ_COUNT override the seed and
// the number of requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import path from 'node:path';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { eventually } from '../../harness/timing/eventually.js';
import { collectGarbage, WITH_INSPECTOR } from '../../harness/processes/collect-garbage.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { complaint } from './fuzz/judge.js';
import { readFigures, type Figures } from './fuzz/process-figures.js';
import { createRandom } from './fuzz/random.js';
import { buildRequest, createMutation, toCurl, type Mutation } from './fuzz/requests.js';
import { seeds } from './fuzz/seeds.js';
import { createWorlds, type World, type Worlds } from './role-matrix-world.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_601);
const COUNT = Number(process.env['FUZZ_COUNT'] ?? 10_000);
const CONCURRENCY = 16;
/** A mutation may delete objects that later ones use, so each batch has its own project, workflows and runs. */
const BATCH = 50;
const WARM_UP = Math.min(1_000, Math.floor(COUNT / 10));
/**
 * Allowed growth of the heap after the warm-up: metrics of statuses and routes that are used for the first time, and
 * caches that were not yet full.
 */
const HEAP_SLACK_MB = 20;
/** Allowed growth of the resident memory: the allocator returns few of the pages that were used at the peak. */
const RSS_SLACK_MB = 200;
const MAX_LAG_SECONDS = 3;

describe(`${COUNT} mutations of valid requests (FUZZ_SEED=${SEED})`, function () {
  this.timeout(900_000);
  let stack: TestStack;
  let worlds: Worlds;
  let internalToken: string;
  let agent: Agent;
  let apiPid: number | undefined;
  let atStart: Figures;
  let longestLagSeconds = 0;

  before(async () => {
    // The service must not send requests to the addresses in the drawings, even after a mutation changed an address.
    stack = await startStack({ env: { ALLOW_PRIVATE_NETWORK: 'false', ...WITH_INSPECTOR } });
    worlds = await createWorlds(stack);
    await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 100000000');
    internalToken = readSecrets(stack.dataDir)!.INTERNAL_SERVICE_TOKEN;
    agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
    apiPid = stack.stack.pids.api;
  });
  after(async () => {
    agent.destroy();
    await worlds.close();
    await stack.stop();
  });

  /** The figures after a garbage collection. */
  async function settledFigures(): Promise<Figures> {
    await collectGarbage(apiPid!, path.join(stack.dataDir, 'logs/api.log'));
    return readFigures(stack.apiUrl);
  }

  const batches = new Map<number, Promise<World>>();
  const worldOf = (index: number): Promise<World> => {
    const batch = Math.floor(index / BATCH);
    const world = batches.get(batch) ?? worlds.create();
    batches.set(batch, world);
    return world;
  };

  it('no 5xx, no hang, and every refusal in its documented shape', async () => {
    let next = 0;
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      for (let index = next++; index < COUNT && failures.length < 5; index = next++) {
        const random = createRandom(SEED, index);
        const mutation = createMutation(
          random.pick(seeds),
          await worldOf(index),
          worlds.credentials,
          internalToken,
          random,
        );
        const wrong = await complaint(stack.apiUrl, agent, buildRequest(mutation));
        if (wrong !== undefined) failures.push(await report(index, mutation, wrong));
        if (index === WARM_UP) atStart = await settledFigures();
        if (index % 500 === 0)
          longestLagSeconds = Math.max(longestLagSeconds, (await readFigures(stack.apiUrl)).lagSeconds);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    assert.deepEqual(failures, []);
  });

  it('the API process has not restarted, and its log has no errors', () => {
    assert.equal(stack.stack.pids.api, apiPid);
    const faults = readFileSync(path.join(stack.dataDir, 'logs', 'api.log'), 'utf8')
      .split('\n')
      .filter((line) => /"level":"(?:error|fatal)"/.test(line));
    assert.deepEqual(faults, []);
  });

  it('every run that was accepted ends', async () => {
    await eventually(
      async () => {
        const [open] = await queryDatabase<{ count: number }>(
          stack,
          "SELECT count(*)::int AS count FROM runs WHERE status = 'In Progress'",
        );
        if (open?.count !== 0) throw new Error(`${open?.count} runs are still open`);
        return true;
      },
      { timeoutMs: 120_000, intervalMs: 500 },
    );
  });

  it('the API uses little more memory than at the start, and no request has blocked its event loop', async () => {
    agent.destroy();
    const atEnd = await settledFigures();
    process.stderr.write(
      `heap ${atStart.heapMb.toFixed(0)} -> ${atEnd.heapMb.toFixed(0)} MB, resident ${atStart.rssMb.toFixed(0)} -> ` +
        `${atEnd.rssMb.toFixed(0)} MB, longest hold ${longestLagSeconds.toFixed(2)} s\n`,
    );
    assert.ok(
      atEnd.heapMb <= atStart.heapMb + HEAP_SLACK_MB,
      `${atEnd.heapMb} MB of heap, ${atStart.heapMb} at the start`,
    );
    assert.ok(atEnd.rssMb <= atStart.rssMb + RSS_SLACK_MB, `${atEnd.rssMb} MB resident, ${atStart.rssMb} at the start`);
    assert.ok(longestLagSeconds <= MAX_LAG_SECONDS, `${longestLagSeconds} s`);
  });

  /** Removes the steps that the failure does not need, and describes the mutation that is left. */
  async function report(index: number, { valid, steps }: Mutation, wrong: string): Promise<string> {
    let kept = steps;
    let last = wrong;
    for (const step of steps) {
      const fewer = kept.filter((each) => each !== step);
      const still = await complaint(stack.apiUrl, agent, buildRequest({ valid, steps: fewer }));
      if (still === undefined) continue;
      kept = fewer;
      last = still;
    }
    const line = toCurl(stack.apiUrl, buildRequest({ valid, steps: kept }));
    return `FUZZ_SEED=${SEED}, mutation ${index}: ${last}\n${line.slice(0, 4000)}`;
  }
});
