import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns false as soon as the caller closes the connection, so that a delay does not outlive its test. */
export function pauseUnlessClosed(response: ServerResponse, delayMs: number): Promise<boolean> {
  const closed = new AbortController();
  const stop = (): void => closed.abort();
  response.once('close', stop);
  return pause(delayMs, true, { signal: closed.signal })
    .catch(() => false)
    .finally(() => response.off('close', stop));
}
