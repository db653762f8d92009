// A node whose connection needs a sign-in waits without a slot. The run workflow starts it again after the sign-in or
// at the time-out. The wait does not count as an attempt (docs/use/connections.md).
import type { WaitFacts } from '../../contract/activities.js';
import { startConnectionWait } from '../../db/connections/connection-waits-repository.js';
import type { Database } from '../../db/core/client.js';
import { readClock } from '../../db/core/clock.js';
import { isObject, ownValue } from '../../graph/json.js';
import { connectionTimeoutField, DEFAULT_CONNECTION_SECONDS } from '../../graph/nodes/shared-fields.js';
import { NodeFailure, runClosedFailure } from './failures.js';
import type { NodeTask } from './node-step.js';

/** Thrown by a node whose connection needs a sign-in. The node waits for it and is then attempted again. */
export class ConnectionNeeded extends Error {
  override name = 'ConnectionNeeded';
  readonly connectionId: number;

  constructor(connectionId: number) {
    super(`connection ${connectionId} needs authorization`);
    this.connectionId = connectionId;
  }
}

/** Ends an attempt whose node continues in another activity after the wait. */
export class NodeWaits extends Error {
  override name = 'NodeWaits';
  readonly facts: WaitFacts;

  constructor(facts: WaitFacts) {
    super('the node waits for a connection');
    this.facts = facts;
  }
}

/**
 * Starts the wait, unless the connection is ready by now, and returns the error with which the attempt ends. Throws a
 * `NodeFailure` if an earlier wait of the node has timed out, and `run_closed` if the run has ended.
 */
export async function waitForConnection(
  { db }: { db: Database },
  task: NodeTask,
  connectionId: number,
): Promise<NodeWaits> {
  const untilMs = (await readClock(db)) + timeoutOf(task.node.data) * 1_000;
  const wait = await startConnectionWait(db, task, { connectionId, untilMs });
  if (wait === 'closed') throw runClosedFailure();
  if (wait === 'expired')
    throw new NodeFailure('connection_expired', 'Nobody has signed in for the connection in time.');
  const facts = { for: 'connection', untilMs: wait === 'ready' ? 0 : wait } as const;
  return new NodeWaits(wait === 'ready' ? { ...facts, isOver: true } : facts);
}

function timeoutOf(data: Record<string, unknown>): number {
  const settings = ownValue(data, 'settings');
  const parsed = connectionTimeoutField.safeParse(
    isObject(settings) ? ownValue(settings, 'connection_timeout') : undefined,
  );
  return parsed.data ?? DEFAULT_CONNECTION_SECONDS;
}
