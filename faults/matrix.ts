// Runs the rows of the fault matrix. A row is one fault in one mode of execution.
import { collectEvidence, readSpent } from './collect.js';
import type { Evidence } from './evidence.js';
import type { Fault } from './fault.js';
import { checkEvidence, countRepeats } from './invariants.js';
import { type Violation } from './report.js';
import { approvals } from './kinds/approval.js';
import { deaths } from './kinds/deaths.js';
import { engine } from './kinds/engine.js';
import { lostWorkers } from './kinds/lost-workers.js';
import { upgrades } from './kinds/upgrade.js';
import { waiting } from './kinds/waits.js';
import { windows } from './kinds/windows.js';
import { Stage } from './stage.js';
import type { Struck } from './service.js';

export const faults: Fault[] = [
  ...deaths,
  ...lostWorkers,
  ...windows,
  ...approvals,
  ...waiting,
  ...engine,
  ...upgrades,
];

/** The modes of execution: the values of the variable EXECUTION. */
export const EXECUTIONS = ['visible', 'dense'] as const;
export type Execution = (typeof EXECUTIONS)[number];

export interface RowResult {
  name: string;
  /** Set by main.ts. `runRow` leaves it undefined. */
  execution?: Execution;
  title: string;
  runs: number;
  succeeded: number;
  /** Runs that ended with `outcome_unknown`, because a POST or a tool call was in flight. */
  unknown: number;
  /** The number of repeated calls. */
  repeats: number;
  /** The time from the end of the last hit to the end of the last run. */
  recoverySeconds: number;
  seconds: number;
  /** Counts that show the effect of the fault, such as `12 packets dropped`. Only rows of several hosts have them. */
  effects: string[];
  violations: Violation[];
}

const SPREAD_MS = 4_000;

/**
 * Applies load and fault, waits for all runs, and checks the invariants. If the row is aborted by an error, that is a
 * violation too.
 */
export async function runRow<Where extends Struck>(
  world: Where,
  fault: Fault<Where>,
  runs: number,
): Promise<RowResult> {
  const startedAt = Date.now();
  const { name, title } = fault;
  const result = await judge(world, fault, runs).catch((error: unknown): Omit<RowResult, 'seconds'> => {
    const violations: Violation[] = [{ invariant: 'fault', message: `the row broke off: ${describe(error)}` }];
    return { name, title, runs, succeeded: 0, unknown: 0, repeats: 0, recoverySeconds: 0, effects: [], violations };
  });
  return { ...result, seconds: (Date.now() - startedAt) / 1000 };
}

async function judge<Where extends Struck>(
  world: Where,
  fault: Fault<Where>,
  runs: number,
): Promise<Omit<RowResult, 'seconds'>> {
  const stage = await Stage.open(world, fault.name);
  try {
    const spentBefore = await readSpent(stage);
    await strike(stage, fault, runs);
    // After a failure of a client, or if a run has not ended in time, no run is polled again: the clients may have been
    // stopped. The evidence shows which runs have not ended.
    if (await stage.allEnded()) for (const run of stage.runs) await run.look();
    return { ...toResult(fault, await collectEvidence(stage, spentBefore)), effects: stage.effects };
  } finally {
    stage.giveUp(); // stops the clients if the row was aborted
  }
}

/** Starts half of the load before the fault, and the other half during it. */
async function strike<Where extends Struck>(stage: Stage<Where>, fault: Fault<Where>, runs: number): Promise<void> {
  const before = Math.ceil(runs / 2);
  const after = runs - before;
  await stage.startLoad(before);
  await stage.untilBusy();
  const rest = stage.startLoad(after, (fault.spreadMs ?? SPREAD_MS) / Math.max(1, after));
  try {
    await fault.apply(stage);
  } catch (error) {
    stage.complain(`the fault broke off: ${describe(error)}`);
    await stage.world.heal();
  }
  await rest;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Without the cause, the message `fetch failed` does not help.
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function toResult(
  { name, title }: Pick<Fault, 'name' | 'title'>,
  evidence: Evidence,
): Omit<RowResult, 'seconds' | 'effects'> {
  const { runs, hits } = evidence;
  const ends = runs.map(({ firstTerminal }) => firstTerminal?.at ?? 0);
  const unknown = runs.filter(({ stored }) => stored?.nodes.some(({ errorCode }) => errorCode === 'outcome_unknown'));
  const recoveryMs = hits.length === 0 ? 0 : Math.max(...ends) - Math.max(...hits.map(({ until }) => until));
  return {
    name,
    title,
    runs: runs.length,
    succeeded: runs.filter(({ firstTerminal }) => firstTerminal?.status === 'succeed').length,
    unknown: unknown.length,
    repeats: countRepeats(evidence),
    recoverySeconds: Math.max(0, recoveryMs) / 1000,
    violations: checkEvidence(evidence),
  };
}
