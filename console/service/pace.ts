// Paces work: batches per frame, and a limit of concurrent calls.

interface Batch<Item> {
  add: (item: Item) => void;
  /** Passes the collected items on at once. */
  flush: () => void;
}

/**
 * Collects items that come in bursts and passes them to `take` together, when `schedule` calls back: on the next frame,
 * or later while the page is hidden.
 */
export function createFrameBatch<Item>(
  take: (items: Item[]) => void,
  schedule: (act: () => void) => void,
): Batch<Item> {
  let items: Item[] = [];
  let isScheduled = false;
  const flush = (): void => {
    isScheduled = false;
    const batch = items;
    items = [];
    if (batch.length > 0) take(batch);
  };
  return {
    add(item) {
      items.push(item);
      if (isScheduled) return;
      isScheduled = true;
      schedule(flush);
    },
    flush,
  };
}

/** Runs at most `most` calls at a time; further calls wait in order (first in, first out). */
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
