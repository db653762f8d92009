// Compares a service with a twin, with the other service of a paired benchmark, or with a peer, round by round.
import type { Results, Throughput } from '../results.js';
import { ratiosOfRounds, type Spread } from '../statistics.js';
import type { PollMode } from '../load.js';
import { isPeer, isTwin, type SubjectName } from '../subjects.js';

type Measured = Pick<Results, 'throughput'>;

interface Wanted {
  subject: SubjectName;
  row: string;
  lanes: number;
  pollMode?: PollMode;
}

/** Returns one measurement; undefined if it was not made. Without `pollMode`, the kind of client does not matter. */
export function find({ throughput }: Measured, wanted: Wanted): Throughput | undefined {
  const { pollMode: wantedMode } = wanted;
  return throughput.find(
    ({ subject, row, lanes, pollMode }) =>
      subject === wanted.subject &&
      row === wanted.row &&
      lanes === wanted.lanes &&
      (wantedMode === undefined || pollMode === wantedMode),
  );
}

/** Returns the processor milliseconds per run of worker and API (for a twin, its gateway), by round. */
function serviceCpu({ cpuMsPerRun }: Pick<Throughput, 'cpuMsPerRun'>): number[] {
  return cpuMsPerRun.worker.map((worker, round) => worker + cpuMsPerRun.api[round]!);
}

/** Returns the processor milliseconds per run of all processes, including Temporal and PostgreSQL, by round. */
export function wholeCpu({ cpuMsPerRun }: Pick<Throughput, 'cpuMsPerRun'>): number[] {
  const { worker, api, temporal, postgres } = cpuMsPerRun;
  return worker.map((ms, round) => ms + api[round]! + temporal[round]! + postgres[round]!);
}

/** Returns the peers that were measured in a row. */
export function peersOf({ throughput }: Measured, row: string): SubjectName[] {
  const peers = throughput.filter((measured) => measured.row === row && isPeer(measured.subject));
  return [...new Set(peers.map(({ subject }) => subject))];
}

interface Comparison {
  ours: Throughput;
  theirs: Throughput;
  perSecond: Spread;
  p50: Spread;
  serviceCpu: Spread;
  wholeCpu: Spread;
}

/** Compares each service with each twin, the other service of a pair, and each peer, if both were measured. */
export function comparisons(results: Measured): Comparison[] {
  return results.throughput.flatMap((ours) => {
    if (isTwin(ours.subject) || isPeer(ours.subject)) return [];
    const others: SubjectName[] = ['twin-normal', 'twin-eager', 'twin-keeping', ...peersOf(results, ours.row)];
    if (ours.subject === 'visible' || ours.subject === 'dense') others.push(`${ours.subject}-other`);
    return others.flatMap((subject) => {
      const theirs = find(results, { ...ours, subject });
      return theirs === undefined ? [] : [compare(ours, theirs)];
    });
  });
}

function compare(ours: Throughput, theirs: Throughput): Comparison {
  return {
    ours,
    theirs,
    perSecond: ratiosOfRounds(ours.perSecond, theirs.perSecond),
    p50: ratiosOfRounds(ours.p50Ms, theirs.p50Ms),
    serviceCpu: ratiosOfRounds(serviceCpu(ours), serviceCpu(theirs)),
    wholeCpu: ratiosOfRounds(wholeCpu(ours), wholeCpu(theirs)),
  };
}
