// Decides who is served next where tenants or projects share something.

interface FairLineOptions<Key, Item> {
  /** Keys of a lower rank are served first, as those that hold less. All keys have the same rank by default. */
  rankOf?: (key: Key) => number;
  /** Returns whether an item is served before another one of its key. Items are served in order of arrival by default. */
  isBefore?: (item: Item, other: Item) => boolean;
}

interface WaitOptions {
  /** Aborting it ends the waiting with its reason, at once if it is aborted already. */
  signal?: AbortSignal | undefined;
  /** The longest time to wait, and the error that ends the waiting then. There is no limit by default. */
  patience?: { ms: number; toError: () => Error };
  /** Is called when the item leaves the line unserved, before anything else runs. */
  onUnserved?: () => void;
}

/**
 * Items wait under keys, such as those of their tenants. Keys of equal rank are served in rotation, however many items each
 * has: a key goes to the end when it is served. The owner of the line knows who may go: it asks for the next item whenever
 * that may have changed, until there is none.
 */
export class FairLine<Key, Item extends object> {
  readonly #options: FairLineOptions<Key, Item>;
  /** The waiting items of each key. The key that was served last is the last one. */
  readonly #lines = new Map<Key, Item[]>();
  readonly #serve = new Map<Item, () => void>();

  constructor(options: FairLineOptions<Key, Item> = {}) {
    this.#options = options;
  }

  /** The number of waiting items. */
  get size(): number {
    return this.#serve.size;
  }

  sizeOf(key: Key): number {
    return this.#lines.get(key)?.length ?? 0;
  }

  /** Resolves when the item is served. It must not be waiting already. */
  wait(key: Key, item: Item, { signal, patience, onUnserved }: WaitOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#serve.has(item)) throw new Error('The item is waiting already.');
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#remove(key, item);
      };
      const fail = (error: unknown): void => {
        leave();
        onUnserved?.();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason of a signal may be anything
        reject(error);
      };
      const abort = (): void => fail(signal?.reason);
      const timer = patience && setTimeout(() => fail(patience.toError()), patience.ms);
      this.#insert(key, item);
      this.#serve.set(item, () => {
        leave();
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
    });
  }

  /** Serves the first item that may go, and returns it; undefined if there is none. */
  next(mayGo: (item: Item) => boolean): Item | undefined {
    for (const [key, items] of this.#inOrder()) {
      const item = items.find(mayGo);
      if (item === undefined) continue;
      this.serve(item);
      // Items of the key that still wait come after those of all other keys.
      if (this.#lines.delete(key) && items.length > 0) this.#lines.set(key, items);
      return item;
    }
    return undefined;
  }

  /** Ends the waiting of this item, whoever is before it. Returns false if it does not wait. */
  serve(item: Item): boolean {
    const serve = this.#serve.get(item);
    serve?.();
    return serve !== undefined;
  }

  #inOrder(): Iterable<[Key, Item[]]> {
    const { rankOf } = this.#options;
    if (rankOf === undefined) return this.#lines;
    return [...this.#lines].toSorted(([left], [right]) => rankOf(left) - rankOf(right));
  }

  #insert(key: Key, item: Item): void {
    const { isBefore = () => false } = this.#options;
    const items = this.#lines.get(key) ?? [];
    this.#lines.set(key, items);
    let at = items.length;
    while (at > 0 && isBefore(item, items[at - 1]!)) at -= 1;
    items.splice(at, 0, item);
  }

  #remove(key: Key, item: Item): void {
    this.#serve.delete(item);
    const items = this.#lines.get(key)!;
    items.splice(items.indexOf(item), 1);
    if (items.length === 0) this.#lines.delete(key);
  }
}
