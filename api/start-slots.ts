// How many starts this process asks of Temporal at once: more only make each of them take longer, until all are too late.

export interface StartSlots {
  /** Undefined, with `start` not called, when there was no slot within `patienceMs`. */
  run<T>(start: () => Promise<T>, patienceMs: number): Promise<T | undefined>;
}

export function createStartSlots(count: number): StartSlots {
  let free = count;
  const waiting = new Set<() => void>();

  function take(patienceMs: number): Promise<boolean> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        waiting.delete(grant);
        resolve(false);
      }, patienceMs);
      const grant = (): void => {
        clearTimeout(timer);
        waiting.delete(grant);
        resolve(true);
      };
      waiting.add(grant);
    });
  }

  return {
    async run(start, patienceMs) {
      if (!(await take(patienceMs))) return undefined;
      try {
        return await start();
      } finally {
        const [next] = waiting;
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
