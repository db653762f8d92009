// Gathers items that come in bursts, and hands them over once a frame.

interface Batch<Item> {
  add: (item: Item) => void;
  /** Hands over at once what was gathered. */
  flush: () => void;
}

/** `schedule` calls back when the next frame is drawn. */
export function createFrameBatch<Item>(
  take: (items: Item[]) => void,
  schedule: (act: () => void) => void,
): Batch<Item> {
  let items: Item[] = [];
  let isScheduled = false;
  const flush = (): void => {
    isScheduled = false;
    const taken = items;
    items = [];
    if (taken.length > 0) take(taken);
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

/** Runs at most `most` calls at a time, and the others in the order in which they were asked for. */
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
