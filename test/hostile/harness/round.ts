// Plays one round: attackers prepare and act while the victim works. The round passes, or has reasons why it failed.
import { setTimeout as pause } from 'node:timers/promises';
import { NOBODY, type AccountAt, type Attack, type Outcomes, type Prepared } from './attack.js';
import { startAttackers, type Attackers } from './attackers.js';
import type { Part } from './limits.js';
import { watchMemory } from './memory-watch.js';
import { work, type VictimReport } from './victim.js';
import type { World } from './world.js';

export interface Row {
  attack: string;
  p99Ms: Record<'polls' | 'starts' | 'saves', number>;
  started: number;
  succeeded: number;
  peakMiB: Record<Part, number>;
  outcomes: Outcomes;
  /** The reasons for which the round has failed; empty if it has passed. */
  reasons: string[];
  /** True if a process of the service has ended. */
  isDeadly: boolean;
}

export interface RoundOptions {
  /** The time from the start of the attack to the start of the victim. */
  leadMs: number;
  measureMs: number;
  /** The time that runs of the victim may still take afterwards, while the attack goes on. */
  endWithinMs: number;
}

/** The results of preparations, by the name of the preparation. */
export type Shared = Map<string, { accounts: AccountAt[]; prepared: Partial<Prepared>[] }>;

const LONGEST_MS = { polls: 1_000, starts: 3_000, saves: 3_000 } as const;

export async function playRound(world: World, attack: Attack, shared: Shared, options: RoundOptions): Promise<Row> {
  const known = attack.prepare === undefined ? undefined : shared.get(attack.prepare.name);
  const accounts = known?.accounts ?? (await openAccounts(world, attack.tenants ?? 1));
  const attackers = await startAttackers(attack, accounts, world.attackerGroup?.procsFile);
  let isShared = known !== undefined;
  try {
    const prepared = known?.prepared ?? (await attackers.prepare());
    if (attack.prepare !== undefined) shared.set(attack.prepare.name, { accounts, prepared });
    isShared = attack.prepare !== undefined;
    return await measure(world, attack, attackers, () => attackers.act(prepared), options);
  } finally {
    await attackers.kill();
    await world.closeAccounts(isShared ? [] : accounts);
  }
}

async function openAccounts(world: World, count: number): Promise<AccountAt[]> {
  const accounts: AccountAt[] = [];
  for (let opened = 0; opened < count; opened += 1) accounts.push(await world.openAccount());
  return accounts;
}

async function measure(
  world: World,
  attack: Attack,
  attackers: Attackers,
  act: () => void,
  options: RoundOptions,
): Promise<Row> {
  const memory = watchMemory(world);
  act();
  await pause(options.leadMs);
  const report = await work(world.victim, options);
  const outcomes = await attackers.count();
  const { peakMiB, deaths } = await memory.end();
  const failure = attackers.failure();
  const reasons = [
    ...(failure === undefined ? [] : [`the attack itself failed: ${failure.split('\n')[0]}`]),
    ...(Object.keys(outcomes).length === 0 && attack.name !== NOBODY.name ? ['the attack did not take place'] : []),
    ...deaths,
    ...judge(report),
  ];
  const p99Ms = { polls: p99(report.pollsMs), starts: p99(report.startsMs), saves: p99(report.savesMs) };
  const { started, succeeded } = report;
  return { attack: attack.name, p99Ms, started, succeeded, peakMiB, outcomes, reasons, isDeadly: deaths.length > 0 };
}

/** Returns the reasons for which the round fails by the victim's report. */
export function judge(report: VictimReport): string[] {
  const times = { polls: report.pollsMs, starts: report.startsMs, saves: report.savesMs };
  const late = (Object.keys(times) as (keyof typeof times)[]).flatMap((what) => {
    if (times[what].length === 0) return [`no ${what} at all`];
    return p99(times[what]) > LONGEST_MS[what] ? [`${what} took ${Math.round(p99(times[what]))} ms`] : [];
  });
  const open = report.started - report.succeeded;
  return [
    ...late,
    ...(open > 0 ? [`${open} of ${report.started} runs did not succeed in time`] : []),
    ...(report.failures.length > 0 ? [`${report.failures.length} failures, first: ${report.failures[0]}`] : []),
  ];
}

/** The 99th percentile; of fewer than a hundred times, the longest. */
function p99(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}
