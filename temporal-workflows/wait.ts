// A node that waits: it begins and ends in activities inside workflow tasks. In between there is a timer, and the run holds
// nothing else.
import type { ChildToStart, NodeFacts, WaitFacts } from '../contract/activities.js';
import type { Waiting } from '../contract/run-workflow.js';
import type { NodeKey } from '../graph/plan.js';
import { beginWait, endWait, type WaitKind } from './activity-options.js';

/** The interface of the run to a node that waits. */
export interface WaitHost {
  /** A later execution continues from this wait. */
  remember(wait: WaitFacts): void;
  /** Resolves when the node was woken, or at the moment. Holds no slot of the run meanwhile. */
  park(waiting: Waiting): Promise<void>;
  /** Starts the run that the node has begun with. */
  startRun(child: ChildToStart): Promise<void>;
  /** Never resolves once the run drains for continue-as-new. */
  gate(): Promise<void>;
}

export interface WaitNode {
  kind: WaitKind;
  key: NodeKey;
  /** The summary that the Temporal UI shows. */
  summary: string;
}

/** The clocks of Temporal and of Postgres differ: the time of a wait may come a little later than the timer. */
export const AGAIN_AFTER_MS = 1_000;

/** `hasTimeoutLink`: whether a link of the node is taken when its time is up. */
export async function runWait(
  host: WaitHost,
  { kind, key, summary }: WaitNode,
  { begun, hasTimeoutLink }: { begun: WaitFacts | undefined; hasTimeoutLink: boolean },
): Promise<NodeFacts> {
  const wait = begun ?? (await beginWait(kind, key, summary));
  host.remember(wait);
  if (begun === undefined && wait.child !== undefined) await host.startRun(wait.child);
  const end = { ...key, wait, hasTimeoutLink };
  // A wait that is over when it begins needs no timer.
  if (wait.isOver !== true) await host.park(wait);
  for (;;) {
    await host.gate();
    const { isWaiting, ...facts } = await endWait(end, summary);
    if (isWaiting !== true) return facts;
    await host.park({ for: wait.for, untilMs: Math.max(wait.untilMs, Date.now() + AGAIN_AFTER_MS) });
  }
}
