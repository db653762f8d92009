const BEAT_EVERY_MS = 2_000;
/** Well below the heartbeat time-out of activities (temporal-workflows/activity-options.ts). */
const LONGEST_GAP_MS = 5_000;

/**
 * Beats as long as an activity runs. A process that stood still for a while has missed beats, and another worker may be
 * executing its activities by then.
 */
export class Pulse {
  readonly #timer: NodeJS.Timeout;
  // One clock stops while the process is paused, the other while the machine is suspended.
  #steadyMs = performance.now();
  #wallMs = Date.now();

  /** `beat` sends a heartbeat; a local activity has none. */
  constructor(beat: () => void = () => undefined) {
    this.#timer = setInterval(() => {
      // After a gap the old time stays: who was away once may not begin anything.
      if (!this.isRegular) return beat();
      this.#steadyMs = performance.now();
      this.#wallMs = Date.now();
      beat();
    }, BEAT_EVERY_MS);
  }

  /** Whether no beat has been missed. */
  get isRegular(): boolean {
    return performance.now() - this.#steadyMs < LONGEST_GAP_MS && Date.now() - this.#wallMs < LONGEST_GAP_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
