// Limits how much memory the concurrent work of a process holds. A caller that wants more waits until others have
// finished, so that the process does not run out of memory.

export interface ByteLease {
  /** The size that was last asked for. */
  readonly bytes: number;
  /**
   * Changes the lease to hold `bytes` in all. A reduction applies at once. An increase may have to wait: it then
   * returns a promise, which rejects with the reason of the lease's signal when that is aborted.
   */
  resize(bytes: number): Promise<void> | undefined;
  /** Releases everything. It may be called more than once. */
  end(): void;
}

export interface ByteBudgetOptions {
  totalBytes: number;
  /** The part of each lease that is not counted, so that small leases never wait behind large ones. */
  uncountedBytes: number;
}

/**
 * Leases may grow while they hold memory. This cannot deadlock, because the first lease in line never waits. The memory
 * held is therefore at most the total, plus what the first lease needs, plus `uncountedBytes` for every lease.
 */
export class ByteBudget {
  readonly #totalBytes: number;
  readonly #uncountedBytes: number;
  /** The leases that hold or want counted bytes, in order of arrival. */
  readonly #line = new Set<Lease>();
  #heldBytes = 0;

  constructor({ totalBytes, uncountedBytes }: ByteBudgetOptions) {
    this.#totalBytes = totalBytes;
    this.#uncountedBytes = uncountedBytes;
  }

  /** The counted bytes that leases hold now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The number of leases that wait. */
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

  /** Grants strictly in order. Otherwise a large request could wait forever behind a stream of small ones. */
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
