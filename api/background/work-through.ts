export interface Pool {
  atOnce: number;
  stopped: AbortSignal;
}

/** Works on each item, some of them concurrently. Once it is stopped, it begins with none. */
export async function workThrough<T>(
  items: readonly T[],
  { atOnce, stopped }: Pool,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const next = async (): Promise<void> => {
    for (let item = queue.next(); !item.done && !stopped.aborted; item = queue.next()) await work(item.value);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
