import { untilAborted } from './until-aborted.js';

/**
 * A time limit that pauses while we, not the server, cause the wait. It must be cleared after use: otherwise its timer
 * stays until it fires, and many deadlines are set every second.
 */
export interface PausableDeadline {
  signal: AbortSignal;
  /**
   * Awaits `work`. Its duration does not count, up to `MAX_PAUSED_MS` over the life of the deadline. Rejects when
   * `signal` is aborted. The work itself continues; a wait for memory stops when its lease ends.
   */
  outside<T>(work: Promise<T>): Promise<T>;
  clear(): void;
}

/** The clock continues after this, because work that holds memory must not wait forever. */
const MAX_PAUSED_MS = 120_000;

/** Aborting `stop` also aborts the signal of the deadline, with the reason of `stop`. */
export function startDeadline(timeoutMs: number, stop?: AbortSignal): PausableDeadline {
  const controller = new AbortController();
  const onStop = (): void => controller.abort(stop?.reason);
  if (stop?.aborted) onStop();
  else stop?.addEventListener('abort', onStop, { once: true });
  const abort = (): void => controller.abort(new DOMException('The time limit has passed', 'TimeoutError'));
  let leftMs = timeoutMs;
  let pausableMs = MAX_PAUSED_MS;
  let runsSince = performance.now();
  let timer = setTimeout(abort, Math.ceil(leftMs));
  return {
    signal: controller.signal,
    async outside(work) {
      const pausedAt = performance.now();
      leftMs -= pausedAt - runsSince;
      clearTimeout(timer);
      timer = setTimeout(abort, Math.ceil(Math.max(0, leftMs) + pausableMs));
      try {
        return await untilAborted(work, controller.signal);
      } finally {
        runsSince = performance.now();
        const pausedMs = runsSince - pausedAt;
        leftMs -= Math.max(0, pausedMs - pausableMs);
        pausableMs = Math.max(0, pausableMs - pausedMs);
        clearTimeout(timer);
        if (!controller.signal.aborted) timer = setTimeout(abort, Math.ceil(Math.max(0, leftMs)));
      }
    },
    clear: () => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onStop);
    },
  };
}

/** Rounds up, because users may enter fractions of a second and the timer needs whole milliseconds. */
export function deadlineSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(timeoutMs));
}
