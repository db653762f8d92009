// The time that a program may take. On a busy machine its process may get no processor for seconds: these are not its own.
import { processorTimeOf } from '../../../processes/processor-time.js';

/** So many times its limit a program may last in all, whatever keeps it waiting. */
const LONGEST = 10;
/** Pause between two looks at the processor time. */
const LOOK_AGAIN_MS = 100;

export interface ProgramLimit {
  /** Aborted by `stop`, with its reason, and when the time is up, with a `TimeoutError`. */
  signal: AbortSignal;
  /** Waits for what the worker does for the program: its time counts, although the program uses no processor. */
  serving<T>(work: Promise<T>): Promise<T>;
  clear(): void;
}

/**
 * Counts the processor time of the process and the time in which the program is served. It counts the elapsed time where the
 * system tells no processor time, and for a process that sleeps: such a one waits for nothing that a busy machine lacks.
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
  let wasAsleep = false;

  function leftMs(): number {
    const elapsedMs = performance.now() - startedAt;
    const now = processorTimeOf(pid);
    if (before === undefined || now === undefined || elapsedMs >= LONGEST * timeoutMs) return timeoutMs - elapsedMs;
    if (servingSince === undefined && now.isSleeping) {
      // Between two threads that hand work to each other, all may seem to sleep: a second look tells.
      if (wasAsleep) return 0;
      wasAsleep = true;
      return LOOK_AGAIN_MS;
    }
    wasAsleep = false;
    const nowServedMs = servingSince === undefined ? 0 : performance.now() - servingSince;
    return timeoutMs - (now.usedMs - before.usedMs + servedMs + nowServedMs);
  }
  function look(): void {
    const restMs = leftMs();
    if (restMs > 0) timer = setTimeout(look, Math.max(restMs, LOOK_AGAIN_MS));
    // A worker that was paused reads what has come meanwhile before it decides that nothing has.
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
    clear() {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    },
  };
}
