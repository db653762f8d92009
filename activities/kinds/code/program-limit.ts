// Limits the time of a program. On a busy machine, its process may get no processor for seconds, which must not count.
import { processorTimeOf } from '../../../processes/processor-time.js';

/** The elapsed time may reach this multiple of the limit, whatever delays the program. */
const LONGEST = 10;
const LOOK_AGAIN_MS = 100;
/** Longer pauses count, because a process that waits must end some time. */
const MAX_PAUSED_MS = 120_000;

export interface ProgramLimit {
  /** Aborted with the reason of `stop`, or with a `TimeoutError` when the time is up. */
  signal: AbortSignal;
  /** Awaits work that the worker does for the program. The work counts, although the program then uses no processor. */
  serving<T>(work: Promise<T>): Promise<T>;
  /**
   * Settles like `wait`, a pause within `serving` that the service causes. Such pauses do not count, up to two minutes
   * for the whole program.
   */
  outside<T>(wait: Promise<T>): Promise<T>;
  /** The time so far that does not count because of `outside`. */
  pausedMs(): number;
  clear(): void;
}

/**
 * Counts the processor time of the process and the time in which the worker serves it, or the elapsed time if the
 * system reports no processor time, each without the pauses of `outside`. A process that sleeps after `timeoutMs`,
 * while the worker does not serve it, is not waiting for a processor, so its program is stopped.
 */
export function startProgramLimit(pid: number, timeoutMs: number, stop: AbortSignal): ProgramLimit {
  const controller = new AbortController();
  const onStop = (): void => controller.abort(stop.reason);
  if (stop.aborted) onStop();
  else stop.addEventListener('abort', onStop, { once: true });
  const startedAt = performance.now();
  const before = processorTimeOf(pid);
  let servedMs = 0;
  let servingSince: number | undefined;
  let endedPausesMs = 0;
  let pausedSince: number | undefined;
  let wasAsleep = false;

  function pausedMs(): number {
    const nowPausedMs = pausedSince === undefined ? 0 : performance.now() - pausedSince;
    return Math.min(MAX_PAUSED_MS, endedPausesMs + nowPausedMs);
  }
  function leftMs(): number {
    const elapsedMs = performance.now() - startedAt - pausedMs();
    const now = processorTimeOf(pid);
    if (before === undefined || now === undefined || elapsedMs >= LONGEST * timeoutMs) return timeoutMs - elapsedMs;
    if (elapsedMs < timeoutMs) return timeoutMs - elapsedMs;
    if (servingSince === undefined && now.isSleeping) {
      // All threads may seem to sleep while one passes work to another, so a second check decides.
      if (wasAsleep) return 0;
      wasAsleep = true;
      return LOOK_AGAIN_MS;
    }
    wasAsleep = false;
    const nowServedMs = servingSince === undefined ? 0 : performance.now() - servingSince;
    return timeoutMs - (now.usedMs - before.usedMs + servedMs + nowServedMs - pausedMs());
  }
  function look(): void {
    const restMs = leftMs();
    if (restMs > 0) timer = setTimeout(look, Math.max(restMs, LOOK_AGAIN_MS));
    // After a pause of the worker, pending input is read first, because the program may have replied in time.
    else setImmediate(() => controller.abort(new DOMException('The time of the program is up', 'TimeoutError')));
  }
  let timer = setTimeout(look, Math.ceil(timeoutMs));
  return {
    signal: controller.signal,
    async serving(work) {
      servingSince = performance.now();
      try {
        return await work;
      } finally {
        servedMs += performance.now() - servingSince;
        servingSince = undefined;
      }
    },
    async outside(wait) {
      pausedSince = performance.now();
      try {
        return await wait;
      } finally {
        endedPausesMs += performance.now() - pausedSince;
        pausedSince = undefined;
      }
    },
    pausedMs,
    clear() {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    },
  };
}
