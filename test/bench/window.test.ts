import assert from 'node:assert/strict';
import { Window, type Job } from '../../bench/window.js';

const NO_CPU = { worker: 0, api: 0, temporal: 0, postgres: 0, client: 0 };
const JOB: Job = { id: 'job', tookMs: 0, acceptedMs: 0, polls: 1 };

/** Measures jobs of equal length, which follow each other in each lane. `offsetOf` returns the start of a lane. */
function measure(lanes: number, jobMs: number, durationMs: number, offsetOf: (lane: number) => number) {
  const window = new Window({
    lanes,
    durationMs,
    read: () => ({ cpu: NO_CPU, idleness: { idleTicks: 0, allTicks: 1 } }),
  });
  const nextStart = Array.from({ length: lanes }, (_, lane) => offsetOf(lane));
  for (let job = 0; !window.isSettled(); job++) {
    assert.ok(job < 10_000, 'the window settles');
    const lane = nextStart.indexOf(Math.min(...nextStart));
    const startedAt = nextStart[lane]!;
    nextStart[lane] = startedAt + jobMs;
    if (job < lanes) window.laneIsWarm(startedAt + jobMs);
    else window.add(JOB, startedAt, startedAt + jobMs);
  }
  return window.toRound();
}

describe('a window of the benchmark', () => {
  it('shows the true number of jobs a second of lanes that end together, whatever a job takes', () => {
    for (const jobMs of [100, 700, 1_900, 2_930, 3_900, 9_000]) {
      const { perSecond } = measure(20, jobMs, 4_000, (lane) => lane / 10);
      const expected = 20_000 / jobMs;
      assert.ok(Math.abs(perSecond / expected - 1) < 0.01, `${jobMs} ms: ${perSecond} instead of ${expected}`);
    }
  });

  it('shows the true number of jobs a second of lanes that are spread evenly, and of one lane', () => {
    const spread = measure(20, 2_930, 4_000, (lane) => lane * 146.5);
    assert.ok(Math.abs(spread.perSecond / (20_000 / 2_930) - 1) < 0.01, String(spread.perSecond));
    assert.equal(Math.round(measure(1, 250, 4_000, () => 0).perSecond * 100), 400);
  });

  it('takes latencies only of jobs that ended in it', () => {
    const { jobs, done } = measure(20, 2_930, 4_000, (lane) => lane / 10);
    assert.equal(jobs.length, 21);
    assert.ok(Math.abs(done - 40) < 1, String(done));
  });
});
