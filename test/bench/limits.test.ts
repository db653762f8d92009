import assert from 'node:assert/strict';
import { limitsOf, type Figures } from '../../bench/report/limits.js';
import { withFigures } from '../../bench/report/write-docs.js';
import type { NodesCost, Throughput } from '../../bench/results.js';

function throughput(over: Partial<Throughput>): Throughput {
  const perPart = { worker: [40], api: [20], temporal: [30], postgres: [10], client: [5] };
  return {
    variant: 'normal',
    subject: 'service',
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
    cpuMsPerRun: perPart,
    history: { events: 42, workflowTasks: 7 },
    ...over,
  };
}

const figures = (...measured: Throughput[]): Figures => ({
  throughput: measured,
  nodes: [],
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
    assert.equal(isMet(20), true);
    assert.equal(isMet(20.1), false);
  });

  it("both processes of the service count against the twin's worker alone", () => {
    const twin = throughput({ subject: 'twin-normal', cpuMsPerRun: { ...throughput({}).cpuMsPerRun, worker: [30] } });
    const cpu = limitsOf(figures(throughput({}), twin)).find(({ what }) => what.includes('CPU'))!;
    assert.deepEqual([cpu.value, cpu.isMet], [2, false]);
  });

  it('events a node are what each further node adds: the start and the end of a run are no node', () => {
    const chains = figures(
      throughput({ lanes: 1, history: { events: 42, workflowTasks: 7 } }),
      throughput({ lanes: 1, row: 'chain-20', calls: 20, history: { events: 132, workflowTasks: 22 } }),
    );
    const events = limitsOf(chains).find(({ what }) => what.includes('events'))!;
    assert.deepEqual([events.value, events.isMet], [6, true]);
  });

  it('cost a node is held to lie close together and, apart from that, not to rise from a shorter run to a longer one', () => {
    const areMet = (msOf: (nodes: number) => number): boolean[] => {
      const nodes = [10, 100, 1000].map((size): NodesCost => {
        const cpuMsPerRun = { ...throughput({}).cpuMsPerRun, worker: [msOf(size)], api: [0] };
        return { ...throughput({}), nodes: size, msPerRun: [msOf(size)], cpuMsPerRun };
      });
      const limits = limitsOf({ ...figures(), nodes });
      assert.equal(limits.length, 4);
      const isMet = (words: string) => limits.filter(({ what }) => what.includes(words)).every((limit) => limit.isMet);
      return [isMet('most by least'), isMet('any shorter run')];
    };
    assert.deepEqual(
      areMet((nodes) => 2 * nodes),
      [true, true],
    );
    assert.deepEqual(
      areMet((nodes) => 40 + 2 * nodes),
      [false, true],
      'it falls',
    );
    const risesInTheMiddle = (nodes: number): number => 40 + (nodes > 500 ? 3 : 2) * nodes;
    assert.deepEqual(areMet(risesInTheMiddle), [false, false], 'below the shortest, above the middle one');
    assert.deepEqual(
      areMet((nodes) => nodes ** 1.1),
      [false, false],
    );
  });

  it('what an empty run costs is taken off where it was measured', () => {
    const nodes = [10, 1000].map((size): NodesCost => ({ ...throughput({}), nodes: size, msPerRun: [40 + 2 * size] }));
    const empty = throughput({ row: 'empty', lanes: 1, p50Ms: [40] });
    const limit = limitsOf({ ...figures(empty), nodes }).find(({ what }) => what.includes('time a node without'))!;
    assert.deepEqual([limit.value, limit.isMet], [1, true]);
  });

  it('figures go between the marks of the page, in place of those that were there, and nowhere else', () => {
    const page =
      'before\n<!-- figures: written by `npm run bench -- --write-docs` -->\nold\n<!-- end of figures -->\nafter';
    const written = withFigures(page, 'new');
    assert.ok(written.startsWith('before\n') && written.endsWith('\nafter') && written.includes('\nnew\n'));
    assert.ok(!written.includes('old'));
    assert.equal(withFigures(written, 'new'), written);
    assert.throws(() => withFigures('no marks', 'new'));
  });
});
