// Gathers what comes in bursts, and gives it on once a frame.

export interface Batch<Item> {
  add: (item: Item) => void;
  /** Gives on at once what was gathered. */
  flush: () => void;
}

/** `schedule`: calls back when the next picture is drawn. */
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
