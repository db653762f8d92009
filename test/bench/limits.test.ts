import assert from 'node:assert/strict';
import { limitsOf, type Figures } from '../../bench/report/limits.js';
import { comparisons } from '../../bench/report/ratios.js';
import { toPage } from '../../bench/report/write-page.js';
import type { Cost, CostName, Throughput } from '../../bench/results.js';

const CPU = { worker: [40], api: [20], temporal: [30], postgres: [10], client: [5] };

function throughput(over: Partial<Throughput>): Throughput {
  return {
    subject: 'visible',
    row: 'chain-5',
    lanes: 20,
    pollMode: 500,
    calls: 5,
    jobs: 10,
    idleShare: [0],
    pollsPerJob: 4,
    perSecond: [17],
    p50Ms: [100],
    p99Ms: 200,
    acceptedMs: { p50: 5, p99: 10 },
    cpuMsPerRun: CPU,
    history: { events: 42, workflowTasks: 7 },
    ...over,
  };
}

const figures = (...measured: Throughput[]): Figures => ({
  throughput: measured,
  costs: [],
  polls: [],
  kills: [],
  memory: [],
});

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

describe('limits of costs', () => {
  const cost = (what: CostName, over: Partial<Cost['cpuMs']> = {}, subject: Cost['subject'] = 'visible'): Cost => {
    return { subject, what, cpuMs: { worker: [0], api: [0], temporal: [9], postgres: [0], client: [9], ...over } };
  };
  const judge = (...costs: Cost[]) =>
    limitsOf({ ...figures(), costs }).map(({ measured, limit, isMet }) => [measured.median, limit, isMet]);

  it('a request is judged by the API alone, a poll by the API and PostgreSQL together', () => {
    assert.deepEqual(judge(cost('a request', { api: [0.35], postgres: [5] })), [[0.35, 0.35, true]]);
    assert.deepEqual(judge(cost('a poll', { api: [0.5], postgres: [0.5] })), [[1, 0.75, false]]);
  });

  it('a node is judged by PostgreSQL, and by its worker beyond that of the twin, round by round', () => {
    const node = cost('a node', { worker: [5, 4, 9], postgres: [1.2, 1.3, 1.1], api: [0, 0, 0] });
    const twin = cost('a node', { worker: [4, 4, 4], api: [0, 0, 0] }, 'twin-normal');
    assert.deepEqual(judge(node, twin), [
      [1.2, 1.2, true],
      [1, 0.6, false],
    ]);
  });

  it('a run of dense execution is judged by all processes of the service together, its nodes not at all', () => {
    const cpu = { api: [4], worker: [13], temporal: [20], postgres: [8.5] };
    const dense = [cost('a start and its execution', cpu, 'dense'), cost('a node', cpu, 'dense')];
    assert.deepEqual(judge(...dense, cost('a start and its execution', cpu)), [[45.5, 45, false]]);
  });

  it('a stream, the other build of a pair and a twin have no limit', () => {
    assert.deepEqual(
      judge(cost('a stream'), cost('a poll', {}, 'visible-other'), cost('a poll', {}, 'twin-keeping')),
      [],
    );
  });
});

describe('limits of polls every 50 and every 500 ms', () => {
  const pair = (pollMode: number, twin: Throughput['subject'], perSecond: number) =>
    limitsOf(figures(throughput({ pollMode }), throughput({ pollMode, subject: twin, perSecond: [perSecond] })))
      .filter(({ what }) => what.includes('runs/s'))
      .map(({ what, limit, isMet }) => [/every \d+ ms/.exec(what)![0], limit, isMet]);

  it('the eager twin may be a third quicker where clients are impatient, less where they are not', () => {
    assert.deepEqual(pair(50, 'twin-eager', 17 / 0.8), [['every 50 ms', 0.75, true]]);
    assert.deepEqual(pair(500, 'twin-eager', 17 / 0.8), [['every 500 ms', 0.85, false]]);
  });

  it('the twin that keeps is compared where polls are rare', () => {
    assert.deepEqual(pair(500, 'twin-keeping', 17 / 0.95), [['every 500 ms', 0.9, true]]);
    assert.deepEqual(pair(50, 'twin-keeping', 17 / 0.95), []);
  });
});

describe('limits beside another service', () => {
  const waiting = { pollMode: 'waits', call: 'POST /?by=peer' } as const;
  const peer = { ...waiting, subject: 'beside http://peer' } as const;

  it('dense must be nearly as quick, visible nearly half, and the call that both make is named', () => {
    const ours = (['visible', 'dense'] as const).map((subject) => throughput({ ...waiting, subject }));
    const judged = limitsOf(figures(...ours, throughput({ ...peer, perSecond: [17 / 0.8] })));
    assert.deepEqual(
      judged.map(({ limit, isMet }) => [limit, isMet]),
      [
        [0.45, true],
        [0.9, false],
      ],
    );
    assert.match(judged[0]!.what, /beside http:\/\/peer, chain-5 \(5 times POST \/\?by=peer\), 20 at once/);
  });

  it('alone it may take three times as long, in dense execution half as long again', () => {
    const ours = (['visible', 'dense'] as const).map((subject) => throughput({ ...waiting, subject, lanes: 1 }));
    const judged = limitsOf(figures(...ours, throughput({ ...peer, lanes: 1, p50Ms: [50] })));
    assert.deepEqual(
      judged.map(({ limit, isMet }) => [limit, isMet]),
      [
        [3, true],
        [1.5, false],
      ],
    );
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
