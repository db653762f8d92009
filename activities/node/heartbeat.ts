import { Context, heartbeat } from '@temporalio/activity';
import { afterEarlierAttempts } from './attempt-order.js';

const BEAT_EVERY_MS = 2_000;
/** Well below the heartbeat time-out of activities (temporal-workflows/activity-options.ts). */
const LONGEST_GAP_MS = 5_000;

/**
 * Sends heartbeats as long as an activity runs. A process that stood still has missed some, and another worker may be
 * running its activities by then.
 */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout;
  // One clock stops while the process is paused, the other while the machine is suspended.
  #steadyMs = performance.now();
  #wallMs = Date.now();

  constructor(beat: () => void) {
    this.#timer = setInterval(() => {
      // After a gap the times are not updated, so `isRegular` stays false.
      if (!this.isRegular) return beat();
      this.#steadyMs = performance.now();
      this.#wallMs = Date.now();
      beat();
    }, BEAT_EVERY_MS);
  }

  /** Whether no heartbeat has been missed. An activity that has missed one starts no further node. */
  get isRegular(): boolean {
    return performance.now() - this.#steadyMs < LONGEST_GAP_MS && Date.now() - this.#wallMs < LONGEST_GAP_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/**
 * Runs the work of an activity. A normal activity sends heartbeats and waits for its own earlier attempts; a local one does
 * neither.
 */
export async function withHeartbeat<T>(runId: string, work: (heartbeats: Heartbeat) => Promise<T>): Promise<T> {
  const { info, cancellationSignal } = Context.current();
  const heartbeats = new Heartbeat(info.isLocal ? () => undefined : heartbeat);
  try {
    if (info.isLocal) return await work(heartbeats);
    return await afterEarlierAttempts(`${runId}/${info.activityId}`, cancellationSignal, () => work(heartbeats));
  } finally {
    heartbeats.stop();
  }
}
