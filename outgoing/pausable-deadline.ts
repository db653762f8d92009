/**
 * A time limit whose clock stands still while we, and not the other side, are what it waits for. To be cleared when it is
 * not needed any more: limits of some seconds, set many times a second, would otherwise all go off, for nobody.
 */
export interface PausableDeadline {
  signal: AbortSignal;
  /** Waits for `work`; its time does not count, up to `MAX_PAUSED_MS` over the life of the deadline. */
  outside<T>(work: Promise<T>): Promise<T>;
  clear(): void;
}

/** After that the clock runs again: what holds memory while it waits must not wait for ever. */
const MAX_PAUSED_MS = 120_000;

/** Its signal is aborted by `stop`, too, with the reason that `stop` has. */
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
        return await work;
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
