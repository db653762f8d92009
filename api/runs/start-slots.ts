// Limits the concurrent starts of this process: more would only slow each one down, until all of them time out.

export interface StartSlots {
  /**
   * Calls `start` once there is a slot, and does not wait for its end. Returns false without calling it when there was
   * no slot within `patienceMs`. `start` must not reject.
   */
  begin(start: () => Promise<void>, patienceMs: number): Promise<boolean>;
  /** Resolves when all starts have ended. */
  idle(): Promise<void>;
}

export function createStartSlots(count: number): StartSlots {
  let free = count;
  const waiting = new Set<() => void>();
  const begun = new Set<Promise<void>>();

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

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async begin(start, patienceMs) {
      if (!(await take(patienceMs))) return false;
      const ended = start().finally(() => {
        giveBack();
        begun.delete(ended);
      });
      begun.add(ended);
      return true;
    },
    idle: async () => void (await Promise.all(begun)),
  };
}
