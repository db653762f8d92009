// Decides when the attempt of a node must stop.
import type { Context } from '@temporalio/activity';

/** Equal to the grace period that a stopping worker grants its nodes (activities/worker/main.ts). */
const ABANDONED_FOR_MS = 9_000;

interface StopSignal {
  signal: AbortSignal;
  release: () => void;
}

/**
 * Aborts at once when the run is cancelled, the worker stops, or another node of the walk has failed.
 *
 * Temporal may give up an attempt whose worker stood still for too long, or whose run was terminated. Its call may
 * still get a valid answer, so it has 9 s to record the answer for the next attempt.
 */
export function createStopSignal(context: Context, walkFailed?: AbortSignal): StopSignal {
  const { cancellationSignal: cancelled } = context;
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => controller.abort(cancelled.aborted ? cancelled.reason : walkFailed?.reason);
  const onCancel = (): void => {
    const { notFound, timedOut } = context.cancellationDetails ?? {};
    if (notFound || timedOut) timer = setTimeout(stop, ABANDONED_FOR_MS);
    else stop();
  };
  if (cancelled.aborted) onCancel();
  else cancelled.addEventListener('abort', onCancel, { once: true });
  if (walkFailed?.aborted) stop();
  else walkFailed?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      cancelled.removeEventListener('abort', onCancel);
      walkFailed?.removeEventListener('abort', stop);
    },
  };
}
