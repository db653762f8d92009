// Signals to the parts of a stack, and when what they struck works again.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readStackFile, type ChildName } from '../cli/embedded/stack-file.js';
import { eventually } from '../test/support/eventually.js';
import type { StartedStack } from '../test/support/stack.js';
import type { World } from './world.js';

export const PARTS: ChildName[] = ['worker', 'api', 'temporal', 'postgres'];
/** What piled up meanwhile still belongs to the blow: tries that were given up, time limits that have passed. */
const WAKE_MS = 2_000;
const BACK_WITHIN = { timeoutMs: 60_000, intervalMs: 100 };

/** `kill -9`, all of them before any can react, and then until the supervisor's new ones work. */
export async function killParts(world: World, parts: ChildName[]): Promise<void> {
  const before = { ...world.stack.stack.pids };
  for (const part of parts) process.kill(before[part]!, 'SIGKILL');
  await partsReplaced(world, parts, before);
}

/** Until other processes than `before` have taken the parts' places and work. */
export async function partsReplaced(
  world: World,
  parts: ChildName[],
  before: Partial<Record<ChildName, number>>,
): Promise<void> {
  await eventually(() => {
    const { pids } = world.stack.stack;
    return parts.every((part) => pids[part] !== undefined && pids[part] !== before[part]);
  }, BACK_WITHIN);
  await partsReady(world);
}

/** The API says that it reaches Temporal and the database; the worker that it works. */
export async function partsReady({ apiUrl, workerReadyUrl }: World): Promise<void> {
  for (const url of [`${apiUrl}/readyz`, workerReadyUrl]) {
    await eventually(async () => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok, BACK_WITHIN);
  }
}

/** SIGSTOP, SIGCONT after so long: to the others a part that is there and says nothing. */
export async function freezePart(world: World, part: ChildName, durationMs: number): Promise<void> {
  // PostgreSQL is many processes, and each connection's goes on by itself: the first is stopped first.
  const pids = withDescendants(world.stack.stack.pids[part]!);
  signalAll(pids, 'SIGSTOP');
  try {
    await pause(durationMs);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
  await pause(WAKE_MS);
  await partsReady(world);
}

/** Kills a part and keeps it away: its port refuses for so long, because the supervisor is stopped and restarts nothing. */
export async function keepAway(world: World, part: ChildName, meanwhile: () => Promise<void>): Promise<void> {
  const before = { ...world.stack.stack.pids };
  const { supervisor } = world.stack;
  supervisor.kill('SIGSTOP');
  try {
    process.kill(before[part]!, 'SIGKILL');
    await meanwhile();
  } finally {
    supervisor.kill('SIGCONT');
  }
  await partsReplaced(world, [part], before);
}

/** What a fault that broke off may have left stopped. */
export function allowToRun({ supervisor, dataDir }: StartedStack): void {
  supervisor.kill('SIGCONT');
  const pids = Object.values(readStackFile(dataDir)?.pids ?? {});
  for (const pid of pids) signalAll(withDescendants(pid), 'SIGCONT');
}

export function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A connection's process may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The process and all that it has started, parents first. Linux only; elsewhere the process alone. */
export function withDescendants(pid: number): number[] {
  if (process.platform !== 'linux') return [pid];
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }));
  const found = [pid];
  for (const parent of found) found.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  return found;
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may itself hold spaces and parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
