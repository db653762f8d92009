// The service as the source of a run's news, in a browser that may go offline.
import { pollRunChange, readRunEvents } from '../../clients/typescript/src/index.js';
import { api } from '../app/api.js';
import type { RunSource } from './watch-run.js';

export function createRunSource(runId: string): RunSource {
  return {
    read: (after, onOpen, signal) => readWhileOnline(runId, after, onOpen, signal),
    poll: (etag, signal) => pollRunChange(api, runId, { etag, signal }),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(end, ms);
        function end(): void {
          clearTimeout(timer);
          removeEventListener('online', end);
          signal.removeEventListener('abort', end);
          resolve();
        }
        addEventListener('online', end);
        signal.addEventListener('abort', end);
      }),
  };
}

/** A connection of a network that is gone may stay open without a word; the browser knows better. */
async function* readWhileOnline(runId: string, after: number | undefined, onOpen: () => void, signal: AbortSignal) {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  const goOffline = (): void => controller.abort(new TypeError('The browser is offline.'));
  signal.addEventListener('abort', stop, { once: true });
  addEventListener('offline', goOffline);
  if (signal.aborted) stop();
  try {
    yield* readRunEvents(api, runId, { after, onOpen, signal: controller.signal });
  } finally {
    signal.removeEventListener('abort', stop);
    removeEventListener('offline', goOffline);
  }
}
