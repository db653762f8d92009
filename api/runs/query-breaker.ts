// A circuit breaker that keeps polls fast while no worker answers queries: after several timeouts it admits only one
// query every few seconds, which detects that workers are back.

interface QueryBreaker {
  /** True if a query may be sent now. While the breaker is open, true admits a single query as a probe. */
  admits(nowMs: number): boolean;
  isOpen(): boolean;
  answered(): void;
  timedOut(nowMs: number): void;
}

/** A single silent run says little about the workers: its own workflow task may be failing. */
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
