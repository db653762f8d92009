// Signals to the parts of a stack, and when what they struck works again.
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildName } from '../cli/embedded/stack-file.js';
import { eventually } from '../harness/timing/eventually.js';
import { withDescendants } from '../harness/processes/family.js';
import { signalAll } from '../harness/processes/signals.js';
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
async function partsReady({ apiUrl, workerReadyUrl }: World): Promise<void> {
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
