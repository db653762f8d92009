// Keeps polls fast while no worker answers queries: after some that were not answered in time no more are sent, but for
// one every few seconds that finds out whether workers are back.

export interface QueryBreaker {
  /** Whether a query may be sent now. While the breaker is open, whoever gets true makes the trial. */
  admits(nowMs: number): boolean;
  isOpen(): boolean;
  answered(): void;
  timedOut(nowMs: number): void;
}

/** One run may be silent because its workflow task fails: that says little of the others. */
const OPENS_AFTER = 3;
const TRIAL_EVERY_MS = 5_000;

export function createQueryBreaker(): QueryBreaker {
  let [timeouts, trialAtMs] = [0, 0];
  const isOpen = (): boolean => timeouts >= OPENS_AFTER;
  return {
    isOpen,
    admits(nowMs) {
      if (!isOpen()) return true;
      if (nowMs < trialAtMs) return false;
      trialAtMs = nowMs + TRIAL_EVERY_MS;
      return true;
    },
    answered() {
      timeouts = 0;
    },
    timedOut(nowMs) {
      timeouts++;
      trialAtMs = nowMs + TRIAL_EVERY_MS;
    },
  };
}
