// The limits that the figures must meet. Limits without measured rows are left out.
import { CROWD_POLLS_MS, describePollMode, PATIENT_POLL_MS } from '../load.js';
import type { Part } from '../processes.js';
import type { Cost, CostName, Limit, Results } from '../results.js';
import { ratiosOfRounds, slope, spreadOf, type Spread } from '../statistics.js';
import type { SubjectName, Variant } from '../subjects.js';
import { find, peersOf, wholeCpu } from './ratios.js';

export type Figures = Pick<Results, 'throughput' | 'costs' | 'polls' | 'kills' | 'memory'>;

const ROWS_OF_VISIBLE = ['chain-5', 'chain-20', 'fan-out-20', 'branch', 'diamonds'];
const ROWS_OF_ITEMS = ['for-each-100-by-5', 'for-each-100-by-20'];
/** The minimum runs/s of dense execution, as a multiple of the twin's. */
const ROWS_OF_DENSE: Record<string, number> = { 'chain-5': 1.7, 'chain-20': 3.5, 'fan-out-20': 2, diamonds: 1.7 };
const ROWS_BESIDE_EAGER = ['chain-5', 'fan-out-20', 'branch'];
/** The minimum runs/s as a multiple of the eager twin's, by the milliseconds between two polls. */
const LEAST_BESIDE_EAGER: Record<number, number> = { 50: 0.75, 500: 0.85 };
const CROWD = 20;

/** All processes of a service. */
const ALL: Part[] = ['api', 'worker', 'temporal', 'postgres'];

interface MostOfCost {
  parts: Part[];
  ms: number;
}

/** The limits on the processor time that each cost takes in these processes together. Other costs have no limit. */
const MOST_OF_COSTS: Partial<Record<CostName, MostOfCost>> = {
  'a request': { parts: ['api'], ms: 0.35 },
  'a request in a crowd': { parts: ['api'], ms: 0.35 },
  'a GET of a project': { parts: ['api', 'postgres'], ms: 0.75 },
  'a poll': { parts: ['api', 'postgres'], ms: 0.75 },
  'a poll in a crowd': { parts: ['api', 'postgres'], ms: 0.75 },
  'an unchanged poll (304)': { parts: ['api', 'postgres'], ms: 0.45 },
  'a start': { parts: ['api'], ms: 3 },
  'a client that waits at the start': { parts: ['api', 'postgres'], ms: 0.5 },
  'a client that waits later': { parts: ['api', 'postgres'], ms: 1.5 },
  'a node': { parts: ['postgres'], ms: 1.2 },
  'an item': { parts: ['postgres'], ms: 1.5 },
};
/** The limit on a chain of five in dense execution, which is not polled. */
const MOST_OF_DENSE_RUN: MostOfCost = { parts: ALL, ms: 45 };
/** The limit on the worker's processor time for a node, after subtracting the twin's. */
const MOST_OF_NODE_BESIDE_TWIN_MS = 0.6;
/**
 * Multiples of a peer's figures, with clients that wait: the minimum runs/s of 20 runs at once, and the maximum p50 of
 * a single run.
 */
const BESIDE_PEERS: Record<Variant, { perSecond: number; p50: number }> = {
  dense: { perSecond: 0.9, p50: 1.5 },
  visible: { perSecond: 0.45, p50: 3 },
};

export function limitsOf(figures: Figures): Limit[] {
  return [
    ...ROWS_OF_VISIBLE.flatMap((row) => visibleBesideTwin(figures, row)),
    ...ROWS_OF_ITEMS.flatMap((row) => itemsBesideTwin(figures, row)),
    ...Object.entries(ROWS_OF_DENSE).flatMap(([row, least]) => denseBesideTwin(figures, row, least)),
    ...ROWS_BESIDE_EAGER.flatMap((row) => visibleBesideEager(figures, row)),
    ...ROWS_OF_VISIBLE.flatMap((row) => visibleBesideKeeping(figures, row)),
    ...besidePeers(figures),
    ...costs(figures),
    ...eventsPerNode(figures),
    ...acceptance(figures),
    ...polls(figures),
    ...kills(figures),
    ...memory(figures),
  ];
}

function atMost(what: string, measured: Spread, limit: number, unit: string): Limit {
  return { what, measured, unit, limit, must: 'at most', isMet: measured.median <= limit };
}

function atLeast(what: string, measured: Spread, limit: number, unit: string): Limit {
  return { what, measured, unit, limit, must: 'at least', isMet: measured.median >= limit };
}

const one = (value: number): Spread => spreadOf([value]);

/** A wide fan-out may cost a little more, because its results arrive at the same time. */
const MOST_OF_FAN_OUT = { p50: 1.2, cpu: 1.25 };
const MOST_OF_DIAMONDS = { p50: 1.15, cpu: 1.25 };
const MOST_OF_OTHERS = { p50: 1.15, cpu: 1.2 };

function visibleBesideTwin(figures: Figures, row: string): Limit[] {
  const [ours, twin] = crowdsOf(figures, row, ['visible', 'twin-normal'], PATIENT_POLL_MS);
  const [oursAlone, twinAlone] = alonesOf(figures, row, ['visible', 'twin-normal']);
  const crowd = crowdOf(PATIENT_POLL_MS);
  const most = row === 'fan-out-20' ? MOST_OF_FAN_OUT : row === 'diamonds' ? MOST_OF_DIAMONDS : MOST_OF_OTHERS;
  const limits: Limit[] = [];
  if (ours !== undefined && twin !== undefined) {
    const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
    const cpu = ratiosOfRounds(wholeCpu(ours), wholeCpu(twin));
    limits.push(atLeast(`visible, ${row}, ${crowd}: runs/s divided by the twin's`, perSecond, 0.9, 'x'));
    limits.push(atMost(`visible, ${row}, ${crowd}: CPU of all processes divided by the twin's`, cpu, most.cpu, 'x'));
  }
  if (oursAlone !== undefined && twinAlone !== undefined) {
    const p50 = ratiosOfRounds(oursAlone.p50Ms, twinAlone.p50Ms);
    limits.push(atMost(`visible, ${row}, one at a time: p50 divided by the twin's`, p50, most.p50, 'x'));
  }
  return limits;
}

function visibleBesideEager(figures: Figures, row: string): Limit[] {
  const [oursAlone, twinAlone] = alonesOf(figures, row, ['visible', 'twin-eager']);
  const limits = CROWD_POLLS_MS.flatMap((pollMs) => {
    const [ours, twin] = crowdsOf(figures, row, ['visible', 'twin-eager'], pollMs);
    if (ours === undefined || twin === undefined) return [];
    const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
    const what = `visible, ${row}, ${crowdOf(pollMs)}: runs/s divided by the eager twin's`;
    return [atLeast(what, perSecond, LEAST_BESIDE_EAGER[pollMs]!, 'x')];
  });
  if (oursAlone !== undefined && twinAlone !== undefined) {
    const p50 = ratiosOfRounds(oursAlone.p50Ms, twinAlone.p50Ms);
    limits.push(atMost(`visible, ${row}, one at a time: p50 divided by the eager twin's`, p50, 1.25, 'x'));
  }
  return limits;
}

function visibleBesideKeeping(figures: Figures, row: string): Limit[] {
  const [ours, twin] = crowdsOf(figures, row, ['visible', 'twin-keeping'], PATIENT_POLL_MS);
  if (ours === undefined || twin === undefined) return [];
  const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
  return [
    atLeast(
      `visible, ${row}, ${crowdOf(PATIENT_POLL_MS)}: runs/s divided by those of the twin that keeps`,
      perSecond,
      0.9,
      'x',
    ),
  ];
}

function besidePeers(figures: Figures): Limit[] {
  return figures.throughput.flatMap((ours) => {
    const { subject, row, lanes, calls, call } = ours;
    if ((subject !== 'visible' && subject !== 'dense') || ours.pollMode !== 'waits') return [];
    const { perSecond, p50 } = BESIDE_PEERS[subject];
    return peersOf(figures, row).flatMap((name) => {
      const peer = find(figures, { subject: name, row, lanes, pollMode: 'waits' });
      if (peer === undefined) return [];
      const what = (load: string, figure: string) =>
        `${subject} ${name}, ${row} (${calls} times ${call}), ${load}, clients that wait: ${figure} divided by the other's`;
      if (lanes === CROWD) {
        const ratios = ratiosOfRounds(ours.perSecond, peer.perSecond);
        return [atLeast(what(`${CROWD} at once`, 'runs/s'), ratios, perSecond, 'x')];
      }
      if (lanes !== 1) return [];
      return [atMost(what('one at a time', 'p50'), ratiosOfRounds(ours.p50Ms, peer.p50Ms), p50, 'x')];
    });
  });
}

function crowdOf(pollMs: number): string {
  return `${CROWD} at once, ${describePollMode(pollMs)}`;
}

function crowdsOf(figures: Figures, row: string, subjects: SubjectName[], pollMode: number) {
  return subjects.map((subject) => find(figures, { subject, row, lanes: CROWD, pollMode }));
}

function alonesOf(figures: Figures, row: string, subjects: SubjectName[]) {
  return subjects.map((subject) => find(figures, { subject, row, lanes: 1 }));
}

function costs({ costs: measured }: Figures): Limit[] {
  const limits = measured.flatMap((cost) => {
    const most = mostOf(cost);
    if (most === undefined) return [];
    const names = most.parts === ALL ? 'all processes' : most.parts.map((part) => NAMES_OF_PARTS[part]).join(' and ');
    return [atMost(`${cost.subject}, ${cost.what}: CPU of ${names}`, sumOf(cost, most.parts), most.ms, 'ms')];
  });
  const [node, twins] = (['visible', 'twin-normal'] as const).map((name) =>
    measured.find(({ subject, what }) => subject === name && what === 'a node'),
  );
  if (node === undefined || twins === undefined) return limits;
  const beyond = spreadOf(node.cpuMs.worker.map((ms, round) => ms - twins.cpuMs.worker[round]!));
  const what = "visible, a node: CPU of the worker beyond the twin's";
  return [...limits, atMost(what, beyond, MOST_OF_NODE_BESIDE_TWIN_MS, 'ms')];
}

function mostOf({ subject, what }: Cost): MostOfCost | undefined {
  if (subject === 'visible') return MOST_OF_COSTS[what];
  if (subject !== 'dense') return undefined;
  if (what === 'a start and its execution') return MOST_OF_DENSE_RUN;
  // In dense execution, nodes and items have no limits, because an activity executes several of them.
  return what === 'a node' || what === 'an item' ? undefined : MOST_OF_COSTS[what];
}

const NAMES_OF_PARTS: Record<Part, string> = {
  api: 'the API',
  worker: 'the worker',
  temporal: 'Temporal',
  postgres: 'PostgreSQL',
  client: 'the client',
};

function sumOf({ cpuMs }: Cost, parts: Part[]): Spread {
  return spreadOf(cpuMs.api.map((_, round) => parts.reduce((sum, part) => sum + cpuMs[part][round]!, 0)));
}

/** The limits on runs that make a call for each item of a list, one run at a time. */
function itemsBesideTwin(figures: Figures, row: string): Limit[] {
  const [ours, twin] = alonesOf(figures, row, ['visible', 'twin-normal']);
  if (ours === undefined || twin === undefined) return [];
  const p50 = ratiosOfRounds(ours.p50Ms, twin.p50Ms);
  const cpu = ratiosOfRounds(wholeCpu(ours), wholeCpu(twin));
  return [
    atMost(`visible, ${row}, one at a time: time an item divided by the twin's`, p50, 1.25, 'x'),
    atMost(`visible, ${row}, one at a time: CPU of all processes divided by the twin's`, cpu, 1.3, 'x'),
  ];
}

function denseBesideTwin(figures: Figures, row: string, least: number): Limit[] {
  const [ours, twin] = crowdsOf(figures, row, ['dense', 'twin-normal'], PATIENT_POLL_MS);
  if (ours === undefined || twin === undefined) return [];
  const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
  return [atLeast(`dense, ${row}, ${crowdOf(PATIENT_POLL_MS)}: runs/s divided by the twin's`, perSecond, least, 'x')];
}

/** The limits on the events of each further node. The slope excludes the events of the start and end of the run. */
function eventsPerNode(figures: Figures): Limit[] {
  const most: [Variant, number][] = [
    ['visible', 6.2],
    ['dense', 1.2],
  ];
  return most.flatMap(([subject, limit]) => {
    const points = ['chain-5', 'chain-20'].flatMap((row) => {
      const measured = find(figures, { subject, row, lanes: 1 });
      return measured?.history === undefined ? [] : [{ x: measured.calls, y: measured.history.events }];
    });
    return points.length < 2 ? [] : [atMost(`${subject}: history events a node`, one(slope(points)), limit, '')];
  });
}

function acceptance({ throughput }: Figures): Limit[] {
  return (['visible', 'dense'] as const).flatMap((variant) => {
    const p99s = throughput
      .filter(({ subject, lanes, pollMode }) => subject === variant && lanes === CROWD && pollMode !== 'waits')
      .map(({ acceptedMs }) => acceptedMs.p99);
    const what = `${variant}, 20 at once: p99 of accepting a run, worst row`;
    return p99s.length === 0 ? [] : [atMost(what, one(Math.max(...p99s)), 100, 'ms')];
  });
}

function polls(figures: Figures): Limit[] {
  return figures.polls.map(({ subject, load, of, p99Ms }) => {
    const what = `${subject}: p99 of polls of ${of} runs at 100/s, ${load === 'alone' ? load : '20 runs in flight'}`;
    return atMost(what, one(p99Ms), of === 'finished' ? 25 : 40, 'ms');
  });
}

function kills(figures: Figures): Limit[] {
  return figures.kills
    .filter(({ subject }) => subject === 'visible' || subject === 'dense')
    .flatMap(({ subject, runs, finished, longestPauseMs, finishedCallsRepeated }) => [
      atLeast(
        `${subject}, kill -9 of the worker with ${runs} runs in flight: runs that finish`,
        one(finished),
        runs,
        '',
      ),
      atMost(`${subject}, kill -9: until the last run continues`, one(longestPauseMs / 1000), 15, 's'),
      atMost(`${subject}, kill -9: finished nodes called again`, one(finishedCallsRepeated), 0, ''),
    ]);
}

function memory(figures: Figures): Limit[] {
  return figures.memory.flatMap(({ subject, apiMib, workerMib }) => [
    atMost(`${subject}, under load: API memory, last third by first`, one(apiMib.at(-1)! / apiMib[0]!), 1.15, 'x'),
    atMost(
      `${subject}, under load: worker memory, last third by first`,
      one(workerMib.at(-1)! / workerMib[0]!),
      1.15,
      'x',
    ),
  ]);
}
