// Decides which tenant or project is served next if they share a resource.

interface FairLineOptions<Key, Item> {
  /** Keys with a lower rank, for example those that hold less, are served first. By default all have the same rank. */
  rankOf?: (key: Key) => number;
  /** Returns true if an item is served before another one of its key. The default is the order of arrival. */
  isBefore?: (item: Item, other: Item) => boolean;
}

interface WaitOptions {
  /** Aborting the signal ends the wait with its reason, at once if the signal is already aborted. */
  signal?: AbortSignal | undefined;
  /** The limit on the wait, and the error with which the wait then ends. There is no limit by default. */
  patience?: { ms: number; toError: () => Error };
  /** Called synchronously when the item leaves the line without being served. */
  onUnserved?: () => void;
}

/**
 * Each waiting item belongs to a key, for example its tenant. Keys of equal rank are served in rotation, regardless of
 * the number of their items: a key that `next` serves moves to the end. The owner of the line decides which items may
 * be served. Whenever that may have changed, the owner calls `next` until it returns undefined.
 */
export class FairLine<Key, Item extends object> {
  readonly #options: FairLineOptions<Key, Item>;
  /** The waiting items by key. Among keys of equal rank, `next` serves the first one. A new key comes last. */
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

  /** Resolves when the item is served. The item must not be waiting already. */
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

  /** Serves the first item for which `mayGo` returns true, and returns it. Returns undefined if there is none. */
  next(mayGo: (item: Item) => boolean): Item | undefined {
    for (const [key, items] of this.#inOrder()) {
      const item = items.find(mayGo);
      if (item === undefined) continue;
      this.serve(item);
      // Moves the key behind all other keys.
      if (this.#lines.delete(key) && items.length > 0) this.#lines.set(key, items);
      return item;
    }
    return undefined;
  }

  /** Ends the wait of this item, even if others are before it. Returns false if it does not wait. */
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
