import { eventually } from '../timing/eventually.js';
import type { StartedStack } from './stack.js';

export type StackPart = 'api' | 'postgres' | 'temporal' | 'worker';

/** Kills one process of the stack, and waits until the supervisor has restarted it. */
export async function killAndAwaitRestart(
  of: Pick<StartedStack, 'stack'>,
  name: StackPart,
  timeoutMs = 60_000,
): Promise<void> {
  const pid = of.stack.pids[name]!;
  process.kill(pid, 'SIGKILL');
  // Each access to `stack` reads the current process ids.
  await eventually(() => of.stack.pids[name] !== undefined && of.stack.pids[name] !== pid, { timeoutMs });
}
