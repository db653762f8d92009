import { createContext, Script } from 'node:vm';

// The context is empty; the work runs in this process with all that it has. Only the limit is wanted of `vm`, which ends
// whatever JavaScript runs, also a loop that never comes back.
const context = createContext({ work: undefined as unknown });
const call = new Script('work()');

export class OutOfTimeError extends Error {
  override name = 'OutOfTimeError';
}

/** Runs synchronous work. Throws an `OutOfTimeError` when it has taken longer than `limitMs`. */
export function withinTime<T>(limitMs: number, work: () => T): T {
  context['work'] = work;
  try {
    return call.runInContext(context, { timeout: limitMs }) as T;
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    throw code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? new OutOfTimeError() : error;
  } finally {
    context['work'] = undefined;
  }
}
