// When a node must stop what it does.
import type { Context } from '@temporalio/activity';

/** As long as a stopping worker gives its nodes (main.ts). */
const ABANDONED_FOR_MS = 9_000;

export interface StopSignal {
  signal: AbortSignal;
  release: () => void;
}

/**
 * Aborts at once when the run is cancelled, the worker stops, or with `givenUp`. A try that Temporal has given up (its
 * worker stood still for too long, or the run was terminated) may have a call on the wire whose answer is as good as ever:
 * it has a while to record it, and the next try finds it.
 */
export function createStopSignal(context: Context, givenUp?: AbortSignal): StopSignal {
  const { cancellationSignal: cancelled } = context;
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => controller.abort(cancelled.aborted ? cancelled.reason : givenUp?.reason);
  const onCancel = (): void => {
    const { notFound, timedOut } = context.cancellationDetails ?? {};
    if (notFound || timedOut) timer = setTimeout(stop, ABANDONED_FOR_MS);
    else stop();
  };
  if (cancelled.aborted) onCancel();
  else cancelled.addEventListener('abort', onCancel, { once: true });
  if (givenUp?.aborted) stop();
  else givenUp?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      cancelled.removeEventListener('abort', onCancel);
      givenUp?.removeEventListener('abort', stop);
    },
  };
}
