import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** False when the caller hangs up first: a delay must not outlive the test that asked for it. */
export function pauseUnlessClosed(response: ServerResponse, delayMs: number): Promise<boolean> {
  const closed = new AbortController();
  const stop = (): void => closed.abort();
  response.once('close', stop);
  return pause(delayMs, true, { signal: closed.signal })
    .catch(() => false)
    .finally(() => response.off('close', stop));
}
