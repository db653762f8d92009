import { Context, heartbeat } from '@temporalio/activity';
import { afterEarlierAttempts } from './attempt-order.js';

const BEAT_EVERY_MS = 2_000;
const LONGEST_GAP_MS = 5_000;

/**
 * Sends heartbeats while an activity runs. After a pause of the process, some are missing, and another worker may be
 * running its activities by then.
 */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout;
  // Both clocks are needed: the steady one may stop while the machine is suspended, and the wall clock may be set back.
  #steadyMs = performance.now();
  #wallMs = Date.now();

  constructor(beat: () => void) {
    this.#timer = setInterval(() => {
      // After a gap the times stay as they are, so `isRegular` stays false.
      if (!this.isRegular) return beat();
      this.#steadyMs = performance.now();
      this.#wallMs = Date.now();
      beat();
    }, BEAT_EVERY_MS);
  }

  /** False once there was no heartbeat for `LONGEST_GAP_MS`. A walk starts no further node then. */
  get isRegular(): boolean {
    return performance.now() - this.#steadyMs < LONGEST_GAP_MS && Date.now() - this.#wallMs < LONGEST_GAP_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/**
 * A normal activity sends heartbeats and waits for its own earlier attempts in this process.
 * A local activity does neither.
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
