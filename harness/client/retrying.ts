import { setTimeout as pause } from 'node:timers/promises';

/** A request without a usable answer. Times are milliseconds since 1970. */
export interface FailedRequest {
  from: number;
  until: number;
  what: string;
}

const RETRY_AFTER_MS = 300;
/** A frozen server accepts a connection but does not answer. */
const PATIENCE_MS = 10_000;

/** Returns a `fetch` that retries after a broken connection, a timeout or a 5xx, until `signal` aborts. */
export function retryingFetch(signal: AbortSignal, onFailure: (failure: FailedRequest) => void) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    for (;;) {
      signal.throwIfAborted();
      const from = Date.now();
      const outcome = await readWhole(url, {
        ...init,
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
      }).catch(describe);
      if (typeof outcome !== 'string' && outcome.status < 500) return outcome;
      signal.throwIfAborted();
      const reason = typeof outcome === 'string' ? outcome : `status ${outcome.status}`;
      onFailure({ from, until: Date.now(), what: `${init.method} ${new URL(url).pathname} got ${reason}` });
      await pause(RETRY_AFTER_MS, undefined, { signal });
    }
  };
}

/** Rejects if the answer is cut off. */
async function readWhole(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  await response.clone().arrayBuffer();
  return response;
}

function describe(error: unknown): string {
  const { name, cause } = error as Error;
  return (cause as { code?: string } | undefined)?.code ?? name;
}
