/** Runs so many at a time at most, the others in the order in which they were asked for. */
export function createLimit(most: number): <T>(act: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = (): void => {
    running -= 1;
    waiting.shift()?.();
  };
  return async (act, signal) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      signal.throwIfAborted();
      return await act();
    } finally {
      next();
    }
  };
}
