// Temporal is down for long, while clients start runs, answer waiting runs and create schedules. The suite stops it for
// a minute; `TEMPORAL_AWAY_SECONDS=3600 npm test -- test/drills/temporal-away.test.ts` tests the whole hour of
// docs/operate/temporal-away.md.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { chain, drawing, http, linkInRow, llm, node, sideBySide, trigger } from '../../harness/drawing/drawing.js';
import { rssMiB } from '../../harness/processes/figures.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  inTemporal,
  makeSchedule,
  ONCE_A_YEAR,
  postSchedule,
  untilFired,
  firingsOf,
} from '../api/schedules/schedule-maker.js';
import { queryDatabase } from '../support/inspect.js';
import { callBack, callbackUrlOf, taskOf, untilWaiting } from '../support/waiting.js';

const AWAY_MS = Number(process.env['TEMPORAL_AWAY_SECONDS'] ?? 60) * 1000;
const BACK_WITHIN_MS = 240_000 + AWAY_MS / 4;
const START_EVERY_MS = 500;
const FIRE_EVERY_MS = 10_000;
/** A start waits two seconds for Temporal at most; the rest is for a busy machine. */
const ANSWER_WITHIN_MS = 30_000;
const SAMPLES = 6;
/** The limits for the growth of a process from the first third of the outage to its end. */
const MOST_MORE_MIB = 100;
const MOST_MORE_FILES = 40;
const MOST_LINES_A_SECOND = 30;

interface Sample {
  lines: number;
  memoryMiB: number[];
  files: number[];
}

describe(`Temporal away for ${AWAY_MS / 1000} s`, function () {
  this.timeout(AWAY_MS + 2 * BACK_WITHIN_MS + 300_000);
  let stack: StartedStack;
  let target: HttpTarget;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await startStack({ env: { DEFAULT_RATE_LIMIT: '1000000' } });
    target = await startHttpTarget();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
  });
  after(async () => {
    stack.supervisor.kill('SIGCONT');
    await stack.stop();
    await target.close();
  });

  const draw = (...nodes: Parameters<typeof drawing>[0]): Promise<number> =>
    api.createWorkflow(project, drawing(linkInRow([trigger(), ...nodes])));
  const ends = async (runId: string): Promise<string> => {
    const options = { timeoutMs: BACK_WITHIN_MS, intervalMs: 300 };
    const { data } = await api.pollToEnd(runId, options);
    return data.status === 'succeed' ? 'succeed' : JSON.stringify(data).slice(0, 1_000);
  };

  function sample(): Sample {
    const pids = [stack.stack.pids.api!, stack.stack.pids.worker!];
    return {
      lines: stack.logs().split('\n').length,
      memoryMiB: pids.map(rssMiB),
      files: pids.map((pid) => (process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0)),
    };
  }

  it('accepts starts and answers, holds what is under way, does not grow, and goes on by itself', async () => {
    const held = { path: `/hold/${randomUUID()}`, runId: '' };
    const callback = node('wait', { mode: 'callback' });
    const person = node('human', { message: 'Well?' });
    const timer = node('wait', { seconds: Math.ceil(AWAY_MS / 2_000) });
    const asking = await api.createWorkflow(project, drawing(sideBySide(trigger(), callback, person, timer)));
    const asked = (await api.run(asking)).data.id;
    const url = await callbackUrlOf(api, asked, callback.id);
    const task = await taskOf(api, asked, person.id);
    await untilWaiting(api, asked, timer.id);
    held.runId = (
      await api.run(await draw(http(target.url + held.path, { method: 'POST', body: '{}' }), llm('after')))
    ).data.id;
    await eventually(() => target.requestsTo(held.path).length === 1);
    const fired = await api.createWorkflow(project, chain(1));
    const schedule = await makeSchedule(api, fired, {
      cron: ONCE_A_YEAR,
      overlap: 'allow_all',
      catchup_seconds: 7_200,
    });
    await inTemporal(stack, schedule.id, (handle) =>
      handle.update((known) => ({ ...known, spec: { intervals: [{ every: FIRE_EVERY_MS }] } })),
    );
    await untilFired(stack, schedule, fired, 1);

    const posting = await draw(http(`${target.url}/post/{{ input.n }}`, { method: 'POST', body: '{}' }));
    const accepted: string[] = [];
    const samples: Sample[] = [];
    stack.supervisor.kill('SIGSTOP');
    process.kill(stack.stack.pids.temporal!, 'SIGKILL');
    const awayAt = Date.now();
    const endsAt = awayAt + AWAY_MS;
    try {
      assert.deepEqual(await callBack(url, 'while Temporal is away'), { status: 200, accepted: true });
      const answered = await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } });
      assert.equal(answered.status, 200, JSON.stringify(answered.body));
      target.release(held.path);
      const late = await postSchedule(api, fired, { cron: ONCE_A_YEAR });
      assert.equal(late.next_run_times, null);
      while (Date.now() < endsAt) {
        const startedAt = performance.now();
        const { status, body } = await api.post<Envelope>(`/workflows/${posting}/run/`, {
          body: { n: String(accepted.length) },
          headers: { 'idempotency-key': randomUUID() },
        });
        const tookMs = performance.now() - startedAt;
        assert.ok(
          status === 200 && body.status === 201 && tookMs < ANSWER_WITHIN_MS,
          `${tookMs}: ${JSON.stringify(body)}`,
        );
        accepted.push(body.data.id);
        assert.equal((await api.poll(body.data.id)).data.status, 'in queue');
        if (Date.now() - awayAt > (samples.length * AWAY_MS) / SAMPLES) samples.push(sample());
        await pause(START_EVERY_MS);
      }
      const ready = await fetch(`${stack.apiUrl}/readyz`);
      const { database, temporal } = (await ready.json()) as Record<string, boolean>;
      assert.deepEqual([ready.status, database, temporal], [503, true, false]);
      assert.equal((await fetch(`${stack.apiUrl}/healthz`)).status, 200);
      samples.push(sample());
    } finally {
      stack.supervisor.kill('SIGCONT');
    }
    checkGrowth(samples);

    for (const runId of [asked, held.runId, ...accepted]) assert.equal(await ends(runId), 'succeed', runId);
    assert.equal(target.requestsTo(held.path).length, 1);
    for (const n of accepted.keys()) assert.equal(target.requestsTo(`/post/${n}`).length, 1, `run ${n}`);
    const [{ runs }] = (await queryDatabase<{ runs: number }>(
      stack,
      'SELECT count(*)::integer AS runs FROM runs WHERE workflow_id = $1',
      [posting],
    )) as [{ runs: number }];
    assert.equal(runs, accepted.length);
    await eventually(async () => (await timesOf(schedule.id, fired)).at(-1)! > endsAt + FIRE_EVERY_MS, {
      timeoutMs: BACK_WITHIN_MS,
    });
    const times = await timesOf(schedule.id, fired);
    const gaps = times.filter((time, index) => index > 0 && time !== times[index - 1]! + FIRE_EVERY_MS);
    assert.deepEqual(gaps, [], 'every firing of the absence was made up for');
    process.stderr.write(`${accepted.length} starts, ${times.length} firings; ${JSON.stringify(samples)}\n`);
  });

  async function timesOf(schedule: string, workflow: number): Promise<number[]> {
    return (await firingsOf(stack, schedule, workflow)).map(({ at }) => at.getTime());
  }
});

function checkGrowth(samples: Sample[]): void {
  const [early, last] = [samples[Math.floor(samples.length / 3)]!, samples.at(-1)!];
  const seconds = (AWAY_MS / 1000) * (2 / 3);
  const text = JSON.stringify(samples);
  assert.ok((last.lines - early.lines) / seconds < MOST_LINES_A_SECOND, `the logs grow too fast: ${text}`);
  for (const [index, memory] of last.memoryMiB.entries()) {
    assert.ok(memory - early.memoryMiB[index]! < MOST_MORE_MIB, `the memory grows: ${text}`);
    assert.ok(last.files[index]! - early.files[index]! < MOST_MORE_FILES, `connections stay open: ${text}`);
  }
}
