// What the figures must show, beside what they do show. A limit whose rows were not measured is left out.
import { median, ratioOfRounds, slope } from '../statistics.js';
import type { Limit, NodesCost, Results, Throughput, Variant } from '../results.js';
import type { SubjectName } from '../subjects.js';

export type Figures = Pick<Results, 'throughput' | 'nodes' | 'polls' | 'kills' | 'memory'>;

const GRAPHS = ['chain-5', 'chain-20', 'fan-out-20', 'branch'];
const CROWD = 20;

export function limitsOf(figures: Figures): Limit[] {
  return [
    ...(['normal', 'alone'] as const).flatMap((variant) =>
      GRAPHS.flatMap((row) => besideNormalTwin(figures, variant, row)),
    ),
    ...quickBesideTwins(figures),
    ...eventsPerNode(figures),
    ...flatness(figures),
    ...acceptance(figures),
    ...polls(figures),
    ...kills(figures),
    ...memory(figures),
  ];
}

/** One measurement of `throughput`; undefined where it was not made. */
export function find(
  { throughput }: Pick<Figures, 'throughput'>,
  wanted: { variant: Variant; subject: SubjectName; row: string; lanes: number },
): Throughput | undefined {
  return throughput.find(
    ({ variant, subject, row, lanes }) =>
      variant === wanted.variant && subject === wanted.subject && row === wanted.row && lanes === wanted.lanes,
  );
}

/** Processor milliseconds a run, round by round. */
export function serviceCpu({ cpuMsPerRun }: Pick<Throughput, 'cpuMsPerRun'>): number[] {
  return cpuMsPerRun.worker.map((worker, round) => worker + cpuMsPerRun.api[round]!);
}

function atMost(what: string, value: number, limit: number, unit: string): Limit {
  return { what, value, unit, limit, must: 'at most', isMet: value <= limit };
}

function atLeast(what: string, value: number, limit: number, unit: string): Limit {
  return { what, value, unit, limit, must: 'at least', isMet: value >= limit };
}

function besideNormalTwin(figures: Figures, variant: Variant, row: string): Limit[] {
  const of = (subject: SubjectName, lanes: number) => find(figures, { variant, subject, row, lanes });
  const [ours, twin] = [of('service', CROWD), of('twin-normal', CROWD)];
  const [oursAlone, twinAlone] = [of('service', 1), of('twin-normal', 1)];
  const limits: Limit[] = [];
  if (ours !== undefined && twin !== undefined) {
    const [perSecond, cpu] = [
      ratioOfRounds(ours.perSecond, twin.perSecond),
      ratioOfRounds(serviceCpu(ours), twin.cpuMsPerRun.worker),
    ];
    limits.push(atLeast(`${variant}, ${row}, 20 at once: runs/s by the normal twin's`, perSecond, 0.85, 'x'));
    limits.push(atMost(`${variant}, ${row}, 20 at once: CPU of worker and API by the twin's worker`, cpu, 1.5, 'x'));
  }
  if (oursAlone !== undefined && twinAlone !== undefined) {
    const p50 = ratioOfRounds(oursAlone.p50Ms, twinAlone.p50Ms);
    limits.push(atMost(`${variant}, ${row}, one at a time: p50 by the normal twin's`, p50, 1.2, 'x'));
  }
  return limits;
}

function quickBesideTwins(figures: Figures): Limit[] {
  const of = (subject: SubjectName, lanes: number) =>
    find(figures, { variant: 'quick', subject, row: 'chain-5', lanes });
  const [ours, normal, local] = [of('service', CROWD), of('twin-normal', CROWD), of('twin-local', CROWD)];
  const [oursAlone, localAlone] = [of('service', 1), of('twin-local', 1)];
  const limits: Limit[] = [];
  if (ours !== undefined && normal !== undefined && local !== undefined) {
    const [byNormal, byLocal] = [normal, local].map((twin) => ratioOfRounds(ours.perSecond, twin.perSecond));
    limits.push(atLeast("quick, chain-5, 20 at once: runs/s by the normal twin's", byNormal!, 1.8, 'x'));
    limits.push(atLeast("quick, chain-5, 20 at once: runs/s by the local twin's", byLocal!, 0.75, 'x'));
  }
  if (oursAlone !== undefined && localAlone !== undefined) {
    const p50 = ratioOfRounds(oursAlone.p50Ms, localAlone.p50Ms);
    limits.push(atMost("quick, chain-5, one at a time: p50 by the local twin's", p50, 1.3, 'x'));
  }
  return limits;
}

/** What each further node adds: start and end of a run are no node's. */
function eventsPerNode(figures: Figures): Limit[] {
  const most: [Variant, number][] = [
    ['normal', 6.2],
    ['alone', 6.2],
    ['quick', 1.2],
  ];
  return most.flatMap(([variant, limit]) => {
    const points = ['chain-5', 'chain-20'].flatMap((row) => {
      const measured = find(figures, { variant, subject: 'service', row, lanes: 1 });
      return measured === undefined ? [] : [{ x: measured.calls, y: measured.history.events }];
    });
    return points.length < 2 ? [] : [atMost(`${variant}: history events a node`, slope(points), limit, '')];
  });
}

/**
 * A run costs something of its own, the twin's too, which weighs less on each node the longer the run is; so what a node
 * costs falls, and beside how far apart its costs lie it is shown that it does not rise from any shorter run to a longer one.
 */
function flatness(figures: Figures): Limit[] {
  return variantsOf(figures.nodes).flatMap((variant) => {
    const costs = figures.nodes.filter((cost) => cost.variant === variant && cost.subject === 'service');
    if (costs.length < 2) return [];
    const empty = find(figures, { variant, subject: 'service', row: 'empty', lanes: 1 });
    const range = `${variant}, ${costs[0]!.nodes} to ${costs.at(-1)!.nodes} nodes`;
    const limitsOn = (what: string, perRun: (cost: NodesCost) => number, ofEmpty: number | undefined): Limit[] => {
      const perNode = (without: number) => costs.map((cost) => (perRun(cost) - without) / cost.nodes);
      const limits = [
        atMost(`${range}: ${what} a node, most by least`, mostByLeast(perNode(0)), 1.15, 'x'),
        atMost(`${range}: ${what} a node by that of any shorter run, most`, mostRise(perNode(0)), 1.15, 'x'),
      ];
      if (ofEmpty === undefined) return limits;
      const title = `${range}: ${what} a node without what an empty run costs, most by least`;
      return [...limits, atMost(title, mostByLeast(perNode(ofEmpty)), 1.15, 'x')];
    };
    return [
      ...limitsOn('time', ({ msPerRun }) => median(msPerRun), empty && median(empty.p50Ms)),
      ...limitsOn('CPU of worker and API', (cost) => median(serviceCpu(cost)), empty && median(serviceCpu(empty))),
    ];
  });
}

function mostByLeast(values: number[]): number {
  return Math.max(...values) / Math.min(...values);
}

/** Of any value by the least before it. */
function mostRise(values: number[]): number {
  return Math.max(...values.slice(1).map((value, index) => value / Math.min(...values.slice(0, index + 1))));
}

function acceptance({ throughput }: Figures): Limit[] {
  return variantsOf(throughput).flatMap((variant) => {
    const p99s = throughput
      .filter((measured) => measured.variant === variant && measured.subject === 'service' && measured.lanes === CROWD)
      .map(({ acceptedMs }) => acceptedMs.p99);
    const what = `${variant}, 20 at once: p99 of accepting a run, worst row`;
    return p99s.length === 0 ? [] : [atMost(what, Math.max(...p99s), 100, 'ms')];
  });
}

function polls(figures: Figures): Limit[] {
  return figures.polls.map(({ variant, load, of, p99Ms }) => {
    const what = `${variant}: p99 of polls of ${of} runs at 100/s, ${load === 'alone' ? load : '20 runs in flight'}`;
    return atMost(what, p99Ms, of === 'finished' ? 25 : 60, 'ms');
  });
}

function kills(figures: Figures): Limit[] {
  return figures.kills
    .filter(({ subject }) => subject === 'service')
    .flatMap(({ variant, runs, finished, longestPauseMs, finishedCallsRepeated }) => [
      atLeast(`${variant}, kill -9 of the worker with ${runs} runs in flight: runs that finish`, finished, runs, ''),
      atMost(`${variant}, kill -9: until the last run goes on`, longestPauseMs / 1000, 15, 's'),
      atMost(`${variant}, kill -9: finished nodes called again`, finishedCallsRepeated, 0, ''),
    ]);
}

function memory(figures: Figures): Limit[] {
  return figures.memory.flatMap(({ variant, apiMib, workerMib }) => [
    atMost(`${variant}, under load: API memory, last third by first`, apiMib.at(-1)! / apiMib[0]!, 1.15, 'x'),
    atMost(`${variant}, under load: worker memory, last third by first`, workerMib.at(-1)! / workerMib[0]!, 1.15, 'x'),
  ]);
}

export function variantsOf(measured: readonly { variant: Variant }[]): Variant[] {
  return [...new Set(measured.map(({ variant }) => variant))];
}
