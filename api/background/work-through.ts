import PQueue from 'p-queue';

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
  const queue = new PQueue({ concurrency: atOnce });
  const unlessStopped = async (item: T): Promise<void> => {
    if (!stopped.aborted) await work(item);
  };
  await queue.addAll(items.map((item) => () => unlessStopped(item)));
}
