// How much may be in memory at once, over all that a process does side by side: who wants more waits for others to
// finish, instead of the process dying of it.

export interface ByteLease {
  /** What was last asked for. */
  readonly bytes: number;
  /**
   * From now on `bytes` in all are held. More than before may have to wait: then there is a promise, which rejects with
   * the reason of the lease's signal when that is aborted. Less than before is given back at once.
   */
  resize(bytes: number): Promise<void> | undefined;
  /** Gives everything back; may be called more than once. */
  end(): void;
}

export interface ByteBudgetOptions {
  totalBytes: number;
  /** Of each lease so much is not counted: what is small never waits for what is large. */
  uncountedBytes: number;
}

/**
 * Cannot deadlock, although leases grow while they hold: who is first in line is never kept waiting. What is held is
 * therefore at most the total and what that one needs (and `uncountedBytes` of everybody).
 */
export class ByteBudget {
  readonly #totalBytes: number;
  readonly #uncountedBytes: number;
  /** Those that hold or want counted bytes, in the order in which they came to it. */
  readonly #line = new Set<Lease>();
  #heldBytes = 0;

  constructor({ totalBytes, uncountedBytes }: ByteBudgetOptions) {
    this.#totalBytes = totalBytes;
    this.#uncountedBytes = uncountedBytes;
  }

  /** Counted bytes that are out now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Leases that are kept waiting. */
  get waiting(): number {
    return [...this.#line].filter((lease) => lease.pending !== undefined).length;
  }

  lease(signal?: AbortSignal): ByteLease {
    const lease: Lease = { counted: 0, pending: undefined };
    let asked = 0;
    return {
      get bytes() {
        return asked;
      },
      resize: (bytes) => {
        asked = bytes;
        return this.#resize(lease, Math.max(0, Math.ceil(bytes) - this.#uncountedBytes), signal);
      },
      end: () => this.#end(lease),
    };
  }

  #resize(lease: Lease, counted: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (counted <= lease.counted) {
      this.#set(lease, counted);
      if (counted === 0) this.#line.delete(lease);
      this.#grant();
      return undefined;
    }
    this.#line.add(lease);
    return new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        lease.pending = undefined;
        if (lease.counted === 0) this.#line.delete(lease);
        this.#grant();
        reject(signal?.reason);
      };
      lease.pending = {
        counted,
        grant() {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#grant();
      if (lease.pending !== undefined && signal?.aborted) giveUp();
    });
  }

  #end(lease: Lease): void {
    this.#set(lease, 0);
    this.#line.delete(lease);
    lease.pending?.grant();
    lease.pending = undefined;
    this.#grant();
  }

  /** Strictly in order: what is large would otherwise wait for ever behind a stream of what just fits. */
  #grant(): void {
    let isFirst = true;
    for (const lease of this.#line) {
      const { pending } = lease;
      if (pending !== undefined) {
        const fits = this.#heldBytes - lease.counted + pending.counted <= this.#totalBytes;
        if (!fits && !isFirst) return;
        lease.pending = undefined;
        this.#set(lease, pending.counted);
        pending.grant();
      }
      isFirst = false;
    }
  }

  #set(lease: Lease, counted: number): void {
    this.#heldBytes += counted - lease.counted;
    lease.counted = counted;
  }
}

interface Lease {
  counted: number;
  pending: { counted: number; grant(): void } | undefined;
}
