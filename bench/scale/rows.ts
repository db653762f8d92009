// The measured work: runs for workers, polls for API processes.
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient } from '../../harness/client/api-client.js';
import { createTimedClient, type TimedClient } from '../../harness/client/timed-client.js';
import { drawing, http, linkInRow, node, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { cpuSeconds } from '../../harness/processes/figures.js';
import type { TestStack } from '../../harness/stack/stack.js';
import type { HttpTarget } from '../../harness/target/http-target.js';
import { startApiProcess } from '../../harness/stack/api-process.js';
import { startWorkerProcess } from '../../harness/stack/worker-process.js';
import { idleness, idleShareBetween } from '../processes.js';
import { hold, type Share } from './share.js';

export interface ScaleBed {
  stack: TestStack;
  target: HttpTarget;
  apiKey: string;
  seconds: number;
}

export interface ScaleRow {
  what: string;
  processes: number;
  /** The share of a processor that each process may use. */
  share: number;
  perSecond: number;
  /**
   * `processes`, `temporal`, `postgres`: seconds of processor time in a second. `machine`: the share of all processors
   * that was not idle, from 0 to 1.
   */
  busy: { processes: number; temporal: number; postgres: number; machine: number };
}

const MOST_PROCESSES = 3;
/** More than workers with these shares can execute. */
const RUNS_AT_ONCE = 16;
const POLLS_AT_ONCE = 12;
/** Enough time to finish the work that was queued before a limit took effect. */
const SETTLE_SECONDS = 3;

interface Started {
  pid: number;
  /** Absent for a process of the stack. */
  stop?: () => Promise<unknown>;
}

interface Running extends Started {
  share: Share;
}

/** Measures runs of code, which load the workers most, and runs of calls, which load Temporal and PostgreSQL most. */
export async function* measureWorkers(bed: ScaleBed): AsyncGenerator<ScaleRow> {
  const { stack, target } = bed;
  const works = [
    {
      what: 'runs of a node with code',
      drawn: drawing(linkInRow([trigger(), node('code', { code: 'return 1;' })])),
      share: 0.5,
    },
    { what: 'runs of five HTTP nodes', drawn: fiveCalls(target), share: 0.25 },
  ];
  for (const { what, drawn, share } of works) {
    const api = createApiClient(stack.apiUrl, bed.apiKey);
    const workflow = await api.createWorkflow(await api.createProject(), drawn);
    const client = clientOf(stack.apiUrl, bed);
    const once = (): Promise<void> => runToEnd(client, workflow);
    const add = async (): Promise<Started> => startWorkerProcess(stack);
    yield* withMoreAndMore(bed, { what, share, part: 'worker', add, lanes: () => Array(RUNS_AT_ONCE).fill(once) });
    await client.close();
  }
}

/** Measures polls of a run that has ended. Each process has its own connections, as behind a proxy. */
export async function* measureApis(bed: ScaleBed): AsyncGenerator<ScaleRow> {
  const { stack, target } = bed;
  const api = createApiClient(stack.apiUrl, bed.apiKey);
  const { runId } = await api.runToEnd(fiveCalls(target));
  const clients = [clientOf(stack.apiUrl, bed)];
  const add = async (): Promise<Started> => {
    const { apiUrl, pid, stop } = await startApiProcess(stack);
    clients.push(clientOf(apiUrl, bed));
    return { pid, stop };
  };
  const poll = (client: TimedClient) => async (): Promise<void> => {
    await client.send('GET', `/workflows/workflow_result/?id=${runId}`);
  };
  const lanes = () => clients.flatMap((client) => Array<() => Promise<void>>(POLLS_AT_ONCE).fill(poll(client)));
  yield* withMoreAndMore(bed, { what: 'polls of a run of five nodes', share: 0.2, part: 'api', add, lanes });
  for (const client of clients) await client.close();
}

export function fiveCalls(target: HttpTarget): Drawing {
  return drawing(linkInRow([trigger(), ...Array.from({ length: 5 }, () => http(`${target.url}/called`))]));
}

/** Sends one request, which is answered at the end of the run. Throws if the run did not succeed. */
export async function runToEnd(client: TimedClient, workflow: number): Promise<void> {
  const path = `/workflows/${workflow}/run/`;
  const { body } = await client.send<{ data: { status: string } }>('POST', path, {}, { prefer: 'wait=55' });
  if (body.data.status !== 'succeed') throw new Error(`a run has not succeeded: ${JSON.stringify(body)}`);
}

export function clientOf(apiUrl: string, { apiKey }: ScaleBed): TimedClient {
  return createTimedClient(`${apiUrl}/api/v1`, { headers: { 'x-api-key': apiKey } });
}

interface Work {
  what: string;
  share: number;
  /** The kind of process. The first one is the stack's own, and `add` starts the others. */
  part: 'api' | 'worker';
  add: () => Promise<Started>;
  /** The actions that `repeat` executes concurrently; each is repeated. */
  lanes: () => (() => Promise<void>)[];
}

async function* withMoreAndMore(bed: ScaleBed, { what, share, part, add, lanes }: Work): AsyncGenerator<ScaleRow> {
  const running: Running[] = [];
  try {
    for (let processes = 1; processes <= MOST_PROCESSES; processes++) {
      const one = processes === 1 ? { pid: bed.stack.stack.pids[part]! } : await add();
      // The first repetition has no limit: with a limit, a new process would take minutes to compile its code.
      await repeat(lanes(), bed.seconds);
      running.push({ ...one, share: hold(`${part}-${processes}`, one.pid, share) });
      await repeat(lanes(), SETTLE_SECONDS);
      yield { what, processes, share, ...(await repeat(lanes(), bed.seconds, () => readCpuTotals(bed, running))) };
    }
  } finally {
    for (const { stop } of running) await stop?.();
    for (const { share: limit } of running) await limit.end();
  }
}

type CpuTotals = Omit<ScaleRow['busy'], 'machine'>;

/** Processor seconds since the processes were started. */
function readCpuTotals({ stack }: ScaleBed, running: Running[]): CpuTotals {
  const { temporal, postgres } = stack.stack.pids;
  return {
    processes: running.reduce((sum, { pid }) => sum + cpuSeconds(pid, 'family'), 0),
    temporal: cpuSeconds(temporal!),
    postgres: cpuSeconds(postgres!, 'family'),
  };
}

const NOTHING = { processes: 0, temporal: 0, postgres: 0 };

/** Repeats all actions concurrently for `seconds`, and counts those that end within this time. */
async function repeat(
  actions: (() => Promise<void>)[],
  seconds: number,
  read: () => CpuTotals = () => NOTHING,
): Promise<Pick<ScaleRow, 'perSecond' | 'busy'>> {
  const over = new AbortController();
  let done = 0;
  const work = Promise.all(
    actions.map(async (once) => {
      while (!over.signal.aborted) {
        await once();
        if (!over.signal.aborted) done += 1;
      }
    }),
  );
  work.catch(() => undefined); // it is awaited below
  const [before, idleBefore, startedAt] = [read(), idleness(), performance.now()];
  await Promise.race([pause(seconds * 1000), work]);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  const [after, idleAfter, ended] = [read(), idleness(), done];
  over.abort();
  await work;
  const busy = (part: keyof CpuTotals): number => (after[part] - before[part]) / tookSeconds;
  return {
    perSecond: ended / tookSeconds,
    busy: {
      processes: busy('processes'),
      temporal: busy('temporal'),
      postgres: busy('postgres'),
      machine: 1 - idleShareBetween(idleBefore, idleAfter),
    },
  };
}
