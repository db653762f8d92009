import assert from 'node:assert/strict';
import { limitsOf, type Figures } from '../../bench/report/limits.js';
import { comparisons } from '../../bench/report/ratios.js';
import { toPage } from '../../bench/report/write-page.js';
import type { Throughput } from '../../bench/results.js';

const CPU = { worker: [40], api: [20], temporal: [30], postgres: [10], client: [5] };

function throughput(over: Partial<Throughput>): Throughput {
  return {
    subject: 'visible',
    row: 'chain-5',
    lanes: 20,
    calls: 5,
    jobs: 10,
    idleShare: [0],
    pollsPerJob: 4,
    perSecond: [17],
    p50Ms: [100],
    p99Ms: 200,
    firstByteMs: { p50: 5, p99: 10 },
    acceptedMs: { p50: 5, p99: 10 },
    cpuMsPerRun: CPU,
    history: { events: 42, workflowTasks: 7 },
    ...over,
  };
}

const figures = (...measured: Throughput[]): Figures => ({ throughput: measured, polls: [], kills: [], memory: [] });

describe('limits of the benchmark', () => {
  it('what was not measured has no limit', () => {
    assert.deepEqual(limitsOf(figures()), []);
    assert.ok(limitsOf(figures(throughput({}))).every(({ what }) => !what.includes('twin')));
  });

  it('a ratio exactly at its limit is met, one below is missed', () => {
    const isMet = (twinPerSecond: number) =>
      limitsOf(figures(throughput({}), throughput({ subject: 'twin-normal', perSecond: [twinPerSecond] }))).find(
        ({ what }) => what.includes('runs/s'),
      )!.isMet;
    assert.equal(isMet(17 / 0.9), true);
    assert.equal(isMet(19), false);
  });

  it('dense execution must be 1.7 times as quick as the twin where the same run must be 0.9 times as quick if visible', () => {
    const twin = throughput({ subject: 'twin-normal', perSecond: [10] });
    const ours = (['visible', 'dense'] as const).map((subject) => throughput({ subject }));
    const judged = limitsOf(figures(...ours, twin)).filter(({ what }) => what.includes('runs/s'));
    assert.deepEqual(
      judged.map(({ what, limit, isMet }) => [what.split(',')[0], limit, isMet]),
      [
        ['visible', 0.9, true],
        ['dense', 1.7, true],
      ],
    );
  });

  it('the median of the rounds is judged, and the lowest and the highest are shown', () => {
    const twin = throughput({ subject: 'twin-normal', perSecond: [10, 10, 10] });
    const [limit] = limitsOf(figures(throughput({ perSecond: [9, 7, 12] }), twin));
    assert.deepEqual([limit!.measured, limit!.isMet], [{ median: 0.9, min: 0.7, max: 1.2 }, true]);
  });

  it('an item of a for-each may take 1.25 times as long as one of the twin, one run at a time', () => {
    const row = { row: 'for-each-100-by-5', lanes: 1, calls: 100 };
    const twin = throughput({ ...row, subject: 'twin-normal', p50Ms: [100] });
    const judged = (p50Ms: number) =>
      limitsOf(figures(throughput({ ...row, p50Ms: [p50Ms] }), twin)).find(({ what }) =>
        what.includes('time an item'),
      )!;
    assert.deepEqual([judged(125).limit, judged(125).isMet, judged(126).isMet], [1.25, true, false]);
  });

  it('the processor time of all processes of a run counts, but for the client', () => {
    const twin = throughput({ subject: 'twin-normal', cpuMsPerRun: { ...CPU, worker: [20], client: [500] } });
    const cpu = limitsOf(figures(throughput({}), twin)).find(({ what }) => what.includes('CPU'))!;
    assert.deepEqual([cpu.measured.median, cpu.isMet], [1.25, false]);
  });

  it('events a node are what each further node adds: the start and the end of a run are no node', () => {
    const chains = figures(
      throughput({ lanes: 1, history: { events: 42, workflowTasks: 7 } }),
      throughput({ lanes: 1, row: 'chain-20', calls: 20, history: { events: 132, workflowTasks: 22 } }),
    );
    const events = limitsOf(chains).find(({ what }) => what.includes('events'))!;
    assert.deepEqual([events.measured.median, events.isMet], [6, true]);
  });
});

describe('report of the benchmark', () => {
  it('compares this build with the other one of a pair, round by round, on the same job alone', () => {
    const other = throughput({ subject: 'visible-other', perSecond: [20, 10], cpuMsPerRun: CPU });
    const otherJob = throughput({ subject: 'visible-other', row: 'branch' });
    const compared = comparisons(figures(throughput({ perSecond: [22, 12] }), other, otherJob));
    assert.deepEqual(
      compared.map(({ perSecond, serviceCpu, wholeCpu }) => [perSecond, serviceCpu.median, wholeCpu.median]),
      [[{ median: 1.15, min: 1.1, max: 1.2 }, 1, 1]],
    );
  });

  it('the page names the command and the machine, and shows each limit that was judged', () => {
    const machine = {
      cores: 2,
      model: 'a processor',
      memoryGib: 8,
      platform: 'linux',
      node: '24.0.0',
      loadBefore: 0.1,
    };
    const settings = { command: 'npm run bench -- --quick', rounds: 3, seconds: 4 };
    const measured = figures(throughput({}), throughput({ subject: 'twin-normal' }));
    const page = toPage({ measuredAt: '2026-01-02T03:04:05Z', machine, settings, ...measured });
    const judged = limitsOf(measured).map(({ what }) => `| ${what} |`);
    assert.ok(judged.length > 0);
    for (const words of ['npm run bench -- --quick', '2026-01-02: 2 cores (a processor)', ...judged]) {
      assert.ok(page.includes(words), words);
    }
  });
});
