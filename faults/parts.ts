// Sends signals to the parts of a stack, and waits until the struck parts work again.
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildName } from '../cli/embedded/stack-file.js';
import { eventually } from '../harness/timing/eventually.js';
import { withDescendants } from '../harness/processes/family.js';
import { signalAll } from '../harness/processes/signals.js';
import type { World } from './world.js';

export const PARTS: ChildName[] = ['worker', 'api', 'temporal', 'postgres'];
/**
 * The time after a freeze that still counts as part of it. Pending attempts then fail and expired time limits take
 * effect, and the freeze is the cause of these failures.
 */
const WAKE_MS = 2_000;
const BACK_WITHIN = { timeoutMs: 60_000, intervalMs: 100 };

/** Sends SIGKILL to all the parts before any can react, then waits until the supervisor's new processes work. */
export async function killParts(world: World, parts: ChildName[]): Promise<void> {
  const before = { ...world.stack.stack.pids };
  for (const part of parts) process.kill(before[part]!, 'SIGKILL');
  await partsReplaced(world, parts, before);
}

/** Waits until new processes have replaced those of `before` and work. */
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

/** Waits until the API reports that it reaches Temporal and the database, and the worker reports that it is ready. */
async function partsReady({ apiUrl, workerReadyUrl }: World): Promise<void> {
  for (const url of [`${apiUrl}/readyz`, workerReadyUrl]) {
    await eventually(async () => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok, BACK_WITHIN);
  }
}

/** Stops a part for `durationMs` (SIGSTOP, SIGCONT). The other parts can connect to it but get no answer. */
export async function freezePart(world: World, part: ChildName, durationMs: number): Promise<void> {
  // PostgreSQL has a process per connection, so all of its processes are stopped, the parent before its children.
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

/** Kills a part, and stops the supervisor during `meanwhile` so that the part is not restarted and its port refuses. */
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
