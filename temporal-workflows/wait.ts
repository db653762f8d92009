// Executes a node that waits. Local activities start and end the wait; in between there is only a timer, and the node
// holds no slot.
import type { ChildToStart, NodeFacts, WaitFacts } from '../contract/activities.js';
import type { Waiting } from '../contract/run-workflow.js';
import type { NodeKey } from '../graph/plan.js';
import { startWait, endWait, type WaitKind } from './activity-options.js';

export interface WaitHost {
  /** The next execution continues from this wait. */
  remember(wait: WaitFacts): void;
  /** Resolves when the node is woken, or at `untilMs`. Holds no slot of the run meanwhile. */
  park(waiting: Waiting): Promise<void>;
  startRun(child: ChildToStart): Promise<void>;
  /** Never resolves once the run drains for continue-as-new. */
  gate(): Promise<void>;
}

export interface WaitNode {
  kind: WaitKind;
  key: NodeKey;
  /** Shown in the Temporal UI. */
  summary: string;
}

/**
 * The least delay before a wait that wasn't over at its time is checked again, unless the node is woken. Temporal's
 * clock may be ahead of that of Postgres, which decides if the wait is over.
 */
export const AGAIN_AFTER_MS = 1_000;

/**
 * Executes a waiting node. `started`: the wait if an earlier execution started it. `hasTimeoutLink`: true if a link
 * leaves the node at its timeout.
 */
export async function runWait(
  host: WaitHost,
  { kind, key, summary }: WaitNode,
  { started, hasTimeoutLink }: { started: WaitFacts | undefined; hasTimeoutLink: boolean },
): Promise<NodeFacts> {
  const wait = started ?? (await startWait(kind, key, summary));
  host.remember(wait);
  if (started === undefined && wait.child !== undefined) await host.startRun(wait.child);
  const end = { ...key, wait, hasTimeoutLink };
  // A wait that is already over needs no timer.
  if (wait.isOver !== true) await host.park(wait);
  for (;;) {
    await host.gate();
    const { isWaiting, ...facts } = await endWait(end, summary);
    if (isWaiting !== true) return facts;
    await host.park({ for: wait.for, untilMs: Math.max(wait.untilMs, Date.now() + AGAIN_AFTER_MS) });
  }
}
