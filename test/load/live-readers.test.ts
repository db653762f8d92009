// Many readers of runs in one process, while runs are executed: no event is lost or late, and memory does not grow.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createAccount, giveRole, type Account } from '../api/accounts.js';
import { startApiProcess, type ApiProcess } from '../../harness/stack/api-process.js';
import { eventually } from '../../harness/timing/eventually.js';
import { openEventStream, type OpenStream, type StreamedEvent } from '../support/event-stream.js';
import { drawing, fanOut, http, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { cancelRun } from '../support/inspect.js';
import { watchPace } from '../support/pace.js';
import { rssMiB } from '../../harness/processes/figures.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

/** How often an event waits for a processor: in PostgreSQL, in the API and in the process that reads. */
const WAITS_FOR_A_PROCESSOR = 3;
/**
 * If bare requests take this long, the machine is busy with something else: all of this load waits for processors, and
 * times do not measure the service. The test then allows an event ON_A_BUSY_MACHINE_WITHIN_MS.
 */
const BUSY_FROM_MS = 90;
const ON_A_BUSY_MACHINE_WITHIN_MS = 3_000;
const STREAMS = 500;
const LONG_POLLS = 1_000;
const LONGEST_WAIT_SECONDS = 55;
const RUNS_A_SECOND = 20;
/** How long runs are started. `LIVE_READERS_SECONDS=600` measures ten minutes. */
const SECONDS = Number(process.env['LIVE_READERS_SECONDS'] ?? 20);
const WIDTH = 3;
const EVENT_WITHIN_MS = 150;
const MEMORY_GROWTH_MIB = 120;
/** In a measurement of at least this time, the memory of the last third is compared with that of the first. */
const LONG_SECONDS = 300;
const MOST_GROWTH_OF_THIRDS = 1.1;
const SAMPLE_EVERY_MS = 1_000;

interface Reader {
  runId: string;
  events: StreamedEvent[];
}

describe('one process with 500 streams and 1,000 long polls, while 20 runs a second go through', function () {
  this.timeout(240_000 + 1_000 * SECONDS);
  let stack: TestStack;
  let target: HttpTarget;
  let account: Account;
  let workflowId: number;
  let heldRunId: string;
  /** The API process of the current test. */
  let api: ApiProcess;
  let over: AbortController;

  before(async () => {
    // The readers run on the same machine, so the runs should load it as little as possible.
    [stack, target] = await Promise.all([startStack({ env: { EXECUTION: 'dense' } }), startHttpTarget()]);
    account = await createAccount(stack);
    const project = await account.api.createProject();
    await giveRole(stack, account, project, 'owner');
    const make = (index: number) => http(`${target.url}/delay/${50 * index}/live`);
    workflowId = await account.api.createWorkflow(project, fanOut(WIDTH, make, http(`${target.url}/join`)));
    const held = drawing(linkInRow([trigger(), node('wait', { seconds: 3_600 })]));
    heldRunId = (await account.api.run(await account.api.createWorkflow(project, held))).data.id;
  });
  afterEach(async () => {
    over.abort();
    await api.stop();
  });
  after(async () => {
    await cancelRun(stack, heldRunId, account.api);
    await target.close();
    await stack.stop();
  });

  const isNodeEnd = ({ event, data }: StreamedEvent): boolean => event === 'node' && data.status !== 'in progress';

  function assertWhole({ runId, events }: Reader): void {
    const ids = events.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
      runId,
    );
    const ends = events.filter(isNodeEnd).map(({ data }) => data.id);
    assert.equal(ends.length, WIDTH + 2, runId);
    assert.equal(new Set(ends).size, WIDTH + 2, runId);
    assert.deepEqual([events.at(-1)!.event, events.at(-1)!.data.status], ['run', 'succeed']);
  }

  /** Starts runs evenly and calls `onRun` with each. */
  async function startRuns(seconds: number, onRun: (runId: string) => void): Promise<void> {
    const starts: Promise<void>[] = [];
    for (let count = 0; count < seconds * RUNS_A_SECOND; count++) {
      starts.push(account.api.run(workflowId).then(({ data }) => onRun(data.id)));
      await pause(1000 / RUNS_A_SECOND);
    }
    await Promise.all(starts);
  }

  /** Repeats a long poll until `over` is aborted; it waits for a run that does not change. */
  async function pollForLong(apiUrl: string, etag: string, firstWaitSeconds: number): Promise<number[]> {
    const statuses: number[] = [];
    const headers = { 'x-api-key': account.apiKey, 'if-none-match': etag };
    for (let wait = firstWaitSeconds; !over.signal.aborted; wait = LONGEST_WAIT_SECONDS) {
      const answer = await fetch(`${apiUrl}/api/v1/workflows/workflow_result/?id=${heldRunId}`, {
        headers: { ...headers, prefer: `wait=${wait}` },
      });
      statuses.push(answer.status);
      await answer.arrayBuffer();
    }
    return statuses;
  }

  it('every stream sees the end of every node once and in order, within 150 ms (p99) and what a busy machine adds, and memory stays flat', async () => {
    api = await startApiProcess(stack);
    const { apiUrl } = api;
    over = new AbortController();
    const known = await eventually(async () => {
      const answer = await account.api.get(`/workflows/workflow_result/?id=${heldRunId}`);
      return JSON.stringify(answer.body).includes('"in progress"') && answer.headers.get('etag')!;
    });
    // The polls end at different times, like those of clients that connected at different times.
    const polls = Array.from({ length: LONG_POLLS }, (_, index) =>
      pollForLong(apiUrl, known, 1 + (index % LONGEST_WAIT_SECONDS)),
    );
    const idle = await Promise.all(
      Array.from({ length: STREAMS / 2 }, () => openEventStream(apiUrl, account.apiKey, heldRunId)),
    );
    const open: Promise<OpenStream & { runId: string; sinceMs: number }>[] = [];
    const follow = (runId: string): void => {
      const stream = openEventStream(apiUrl, account.apiKey, runId);
      open.push(stream.then((given) => ({ ...given, runId, sinceMs: Date.now() })));
    };
    // Thousands of readers have just connected at once. Events are timed only for runs that start 5 seconds later.
    await startRuns(5, follow);
    const early = open.length;
    const beforeMiB = rssMiB(api.pid);
    const samples: number[] = [];
    const sampling = setInterval(() => samples.push(rssMiB(api.pid)), SAMPLE_EVERY_MS);
    const pace = watchPace(apiUrl);
    await startRuns(SECONDS, follow).finally(() => clearInterval(sampling));
    const bareMs = await pace.stop();
    const third = Math.floor(samples.length / 3);
    const thirds = [0, 1, 2].map((at) => mean(samples.slice(at * third, (at + 1) * third)));
    const streams = await Promise.all(open);
    await Promise.all(streams.map(({ ended }) => ended));
    const afterMiB = rssMiB(api.pid);
    for (const stream of streams) assertWhole(stream);
    // For an event from before its reader was connected, the delay starts at the connection.
    const delays = streams
      .slice(early)
      .flatMap(({ events, sinceMs }) => events.filter(isNodeEnd).map((event) => ({ ...event, sinceMs })))
      .map(({ receivedAtMs, data, sinceMs }) => receivedAtMs - Math.max(sinceMs, Date.parse(data.finished_at!)))
      .toSorted((a, b) => a - b);
    const p99 = delays[Math.floor(delays.length * 0.99)]!;
    const figures = {
      events: delays.length,
      p50: delays[delays.length >> 1],
      p99,
      bareMs,
      beforeMiB,
      afterMiB,
      thirds,
    };
    process.stdout.write(`      ${JSON.stringify(figures)}\n`);
    const waitedMs = EVENT_WITHIN_MS + WAITS_FOR_A_PROCESSOR * bareMs;
    const limitMs = bareMs < BUSY_FROM_MS ? waitedMs : ON_A_BUSY_MACHINE_WITHIN_MS;
    assert.ok(p99 < limitMs, `p99 ${p99} ms, and ${limitMs} ms are allowed where a bare answer takes ${bareMs} ms`);
    if (SECONDS < LONG_SECONDS) assert.ok(afterMiB - beforeMiB < MEMORY_GROWTH_MIB, `${beforeMiB} to ${afterMiB} MiB`);
    else assert.ok(thirds[2]! <= MOST_GROWTH_OF_THIRDS * thirds[0]!, `${thirds.join(', ')} MiB`);
    over.abort();
    for (const stream of idle) stream.close();
    await api.stop();
    const statuses = (await Promise.all(polls)).flat();
    assert.deepEqual([...new Set(statuses)], [304], 'nobody was told of a change that there was not');
  });

  it('when the process is killed and started again, every reader resumes its stream without loss', async () => {
    api = await startApiProcess(stack);
    const readers: Promise<Reader>[] = [];
    const read = async (runId: string): Promise<Reader> => {
      const events: StreamedEvent[] = [];
      for (;;) {
        const lastEventId = events.at(-1)?.id;
        const options = lastEventId === undefined ? {} : { lastEventId };
        const stream = await openEventStream(api.apiUrl, account.apiKey, runId, options).catch(() => undefined);
        await stream?.ended;
        events.push(...(stream?.events ?? []));
        const last = events.at(-1);
        if (last?.event === 'run' && last.data.status === 'succeed') return { runId, events };
        await pause(100);
      }
    };
    const runs = startRuns(12, (runId) => {
      for (let reader = 0; reader < 2; reader++) readers.push(read(runId));
    });
    for (let kill = 0; kill < 3; kill++) {
      await pause(3_000);
      process.kill(api.pid, 'SIGKILL');
      api = await startApiProcess(stack);
    }
    await runs;
    for (const reader of await Promise.all(readers)) assertWhole(reader);
    await api.stop();
  });
});

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
