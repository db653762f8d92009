// The limits that the figures must meet. Limits without measured rows are left out.
import type { Limit, Results } from '../results.js';
import { ratiosOfRounds, slope, spreadOf, type Spread } from '../statistics.js';
import type { SubjectName, Variant } from '../subjects.js';
import { find, wholeCpu } from './ratios.js';

export type Figures = Pick<Results, 'throughput' | 'polls' | 'kills' | 'memory'>;

const ROWS_OF_VISIBLE = ['chain-5', 'chain-20', 'fan-out-20', 'branch', 'diamonds'];
const ROWS_OF_ITEMS = ['for-each-100-by-5', 'for-each-100-by-20'];
/** The minimum runs/s of dense execution, as a multiple of the twin's. */
const ROWS_OF_DENSE: Record<string, number> = { 'chain-5': 1.7, 'chain-20': 3.5, 'fan-out-20': 2, diamonds: 1.7 };
const ROWS_BESIDE_EAGER = ['chain-5', 'fan-out-20', 'branch'];
const CROWD = 20;

export function limitsOf(figures: Figures): Limit[] {
  return [
    ...ROWS_OF_VISIBLE.flatMap((row) => visibleBesideTwin(figures, row)),
    ...ROWS_OF_ITEMS.flatMap((row) => itemsBesideTwin(figures, row)),
    ...Object.entries(ROWS_OF_DENSE).flatMap(([row, least]) => denseBesideTwin(figures, row, least)),
    ...ROWS_BESIDE_EAGER.flatMap((row) => visibleBesideEager(figures, row)),
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
  const of = (subject: SubjectName, lanes: number) => find(figures, { subject, row, lanes });
  const [ours, twin] = [of('visible', CROWD), of('twin-normal', CROWD)];
  const [oursAlone, twinAlone] = [of('visible', 1), of('twin-normal', 1)];
  const most = row === 'fan-out-20' ? MOST_OF_FAN_OUT : row === 'diamonds' ? MOST_OF_DIAMONDS : MOST_OF_OTHERS;
  const limits: Limit[] = [];
  if (ours !== undefined && twin !== undefined) {
    const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
    const cpu = ratiosOfRounds(wholeCpu(ours), wholeCpu(twin));
    limits.push(atLeast(`visible, ${row}, 20 at once: runs/s by the twin's`, perSecond, 0.9, 'x'));
    limits.push(atMost(`visible, ${row}, 20 at once: CPU of all processes by the twin's`, cpu, most.cpu, 'x'));
  }
  if (oursAlone !== undefined && twinAlone !== undefined) {
    const p50 = ratiosOfRounds(oursAlone.p50Ms, twinAlone.p50Ms);
    limits.push(atMost(`visible, ${row}, one at a time: p50 by the twin's`, p50, most.p50, 'x'));
  }
  return limits;
}

function visibleBesideEager(figures: Figures, row: string): Limit[] {
  const of = (subject: SubjectName, lanes: number) => find(figures, { subject, row, lanes });
  const [ours, twin] = [of('visible', CROWD), of('twin-eager', CROWD)];
  const [oursAlone, twinAlone] = [of('visible', 1), of('twin-eager', 1)];
  const limits: Limit[] = [];
  if (ours !== undefined && twin !== undefined) {
    const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
    limits.push(atLeast(`visible, ${row}, 20 at once: runs/s by the eager twin's`, perSecond, 0.75, 'x'));
  }
  if (oursAlone !== undefined && twinAlone !== undefined) {
    const p50 = ratiosOfRounds(oursAlone.p50Ms, twinAlone.p50Ms);
    limits.push(atMost(`visible, ${row}, one at a time: p50 by the eager twin's`, p50, 1.25, 'x'));
  }
  return limits;
}

/** The limits on runs that make a call for each item of a list, one run at a time. */
function itemsBesideTwin(figures: Figures, row: string): Limit[] {
  const [ours, twin] = (['visible', 'twin-normal'] as const).map((subject) =>
    find(figures, { subject, row, lanes: 1 }),
  );
  if (ours === undefined || twin === undefined) return [];
  const p50 = ratiosOfRounds(ours.p50Ms, twin.p50Ms);
  const cpu = ratiosOfRounds(wholeCpu(ours), wholeCpu(twin));
  return [
    atMost(`visible, ${row}, one at a time: time an item by the twin's`, p50, 1.25, 'x'),
    atMost(`visible, ${row}, one at a time: CPU of all processes by the twin's`, cpu, 1.3, 'x'),
  ];
}

function denseBesideTwin(figures: Figures, row: string, least: number): Limit[] {
  const [ours, twin] = (['dense', 'twin-normal'] as const).map((subject) =>
    find(figures, { subject, row, lanes: CROWD }),
  );
  if (ours === undefined || twin === undefined) return [];
  const perSecond = ratiosOfRounds(ours.perSecond, twin.perSecond);
  return [atLeast(`dense, ${row}, 20 at once: runs/s by the twin's`, perSecond, least, 'x')];
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
      return measured === undefined ? [] : [{ x: measured.calls, y: measured.history.events }];
    });
    return points.length < 2 ? [] : [atMost(`${subject}: history events a node`, one(slope(points)), limit, '')];
  });
}

function acceptance({ throughput }: Figures): Limit[] {
  return (['visible', 'dense'] as const).flatMap((variant) => {
    const p99s = throughput
      .filter(({ subject, lanes }) => subject === variant && lanes === CROWD)
      .map(({ acceptedMs }) => acceptedMs.p99);
    const what = `${variant}, 20 at once: p99 of accepting a run, worst row`;
    return p99s.length === 0 ? [] : [atMost(what, one(Math.max(...p99s)), 100, 'ms')];
  });
}

function polls(figures: Figures): Limit[] {
  return figures.polls.map(({ subject, load, of, p99Ms }) => {
    const what = `${subject}: p99 of polls of ${of} runs at 100/s, ${load === 'alone' ? load : '20 runs in flight'}`;
    return atMost(what, one(p99Ms), of === 'finished' ? 25 : 60, 'ms');
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
