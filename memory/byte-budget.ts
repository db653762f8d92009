// Limits how much memory the concurrent work of a process holds, and shares it between tenants. A caller that wants more
// waits until others have finished, so that the process does not run out of memory.

export interface ByteLease {
  /** The size that was last asked for. */
  readonly bytes: number;
  /**
   * Changes the lease to hold `bytes` in all. A reduction applies at once. An increase may have to wait: it then
   * returns a promise. The promise rejects with the reason of the lease's signal when that is aborted, and with
   * `MemoryBusyError` when the budget has a patience and it is over. The lease then holds what it held before.
   */
  resize(bytes: number): Promise<void> | undefined;
  /**
   * Tells that somebody is to take what the lease holds, until the returned function is called. If that takes longer than
   * half a second while a tenant who holds less waits for memory, `giveBack` is called, which should end the lease.
   */
  lend(giveBack: () => void): () => void;
  /** Releases everything. It may be called more than once. */
  end(): void;
}

interface ByteBudgetOptions {
  totalBytes: number;
  /** The part of a lease that is not counted, so that small leases never wait behind large ones. */
  uncountedBytes: number;
  /** The number of leases of a tenant that may have an uncounted part at a time. All may by default. */
  uncountedLeases?: number;
  /** The longest time for which a lease waits. It waits for ever by default. */
  patienceMs?: number;
}

/** The memory was not free in time. */
export class MemoryBusyError extends Error {
  constructor() {
    super('The memory that the work needs was not free in time.');
    this.name = 'MemoryBusyError';
  }
}

/** Bytes that nobody takes for this long are given back when others wait; and how often that is looked at. */
const LENT_MS = 500;
const RECLAIM_EVERY_MS = 100;

/** The part of the total that only small shares may use. */
const RESERVED_PART = 1 / 4;

/**
 * A lease is granted when one of these holds, and the total is not exceeded by 1 and 2:
 *
 * 1. Its tenant then holds no more than what is left free. One tenant gets at most a half, two get a third each, and so
 *    on: something is always left for a newcomer.
 * 2. A quarter of the total is left free. Besides, it is the oldest of its tenant, or no other tenant holds anything.
 * 3. It is the oldest of all leases that hold or want something.
 *
 * Leases may grow while they hold memory. This cannot deadlock: by 3 the oldest lease never waits, and each lease becomes
 * the oldest one when those before it have ended. The memory held is therefore at most the total, plus what the oldest
 * lease needs, plus the uncounted parts. Whoever holds the least is served first.
 */
export class ByteBudget {
  readonly #options: Required<ByteBudgetOptions>;
  readonly #tenants = new Map<string, Tenant>();
  /** The leases that hold or want counted bytes, the oldest first. */
  readonly #line = new Set<Lease>();
  /** The leases whose memory others are to take. */
  readonly #lent = new Map<Lease, { sinceMs: number; giveBack: () => void }>();
  #heldBytes = 0;
  #waiting = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = { uncountedLeases: Infinity, patienceMs: Infinity, ...options };
  }

  /** The counted bytes that leases hold now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The number of leases that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** `tenant`: for whom the memory is held, such as `user:7`. Aborting `signal` ends the waiting. */
  lease(tenant: string, signal?: AbortSignal): ByteLease {
    const lease: Lease = { tenant, counted: 0, uncounted: undefined, pending: undefined };
    let asked = 0;
    let hasEnded = false;
    return {
      get bytes() {
        return asked;
      },
      resize: (bytes) => {
        // A request that was on its way when the lease ended would hold memory that nobody gives back.
        if (hasEnded) return undefined;
        asked = bytes;
        return this.#resize(lease, Math.ceil(bytes), signal);
      },
      lend: (giveBack) => {
        const loan = { sinceMs: performance.now(), giveBack };
        this.#lent.set(lease, loan);
        return () => {
          if (this.#lent.get(lease) === loan) this.#lent.delete(lease);
        };
      },
      end: () => {
        hasEnded = true;
        this.#lent.delete(lease);
        this.#end(lease);
      },
    };
  }

  #resize(lease: Lease, bytes: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (bytes === 0 && lease.uncounted === undefined) return undefined;
    const tenant = this.#tenantOf(lease);
    const counted = Math.max(0, bytes - lease.uncounted!);
    if (counted <= lease.counted) {
      this.#set(lease, tenant, counted);
      if (counted === 0) this.#leaveLine(lease, tenant);
      this.#grant();
      return undefined;
    }
    this.#line.add(lease);
    tenant.line.add(lease);
    if (this.#waiting === 0 && this.#fits(lease, tenant, counted)) {
      this.#set(lease, tenant, counted);
      return undefined;
    }
    return this.#wait(lease, tenant, counted, signal);
  }

  #wait(lease: Lease, tenant: Tenant, counted: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const { patienceMs } = this.#options;
      let timer: NodeJS.Timeout | undefined;
      const leave = (): void => {
        this.#waiting -= 1;
        lease.pending = undefined;
        clearTimeout(timer);
        clearInterval(reclaiming);
        signal?.removeEventListener('abort', giveUp);
      };
      const fail = (error: unknown): void => {
        leave();
        if (lease.counted === 0) this.#leaveLine(lease, tenant);
        this.#grant();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason of a signal may be anything
        reject(error);
      };
      const giveUp = (): void => fail(signal?.reason);
      lease.pending = {
        counted,
        grant() {
          leave();
          resolve();
        },
      };
      this.#waiting += 1;
      const reclaiming = setInterval(() => this.#reclaim(lease, tenant), RECLAIM_EVERY_MS).unref();
      signal?.addEventListener('abort', giveUp, { once: true });
      if (patienceMs !== Infinity) timer = setTimeout(() => fail(new MemoryBusyError()), patienceMs);
      this.#grant();
      if (lease.pending !== undefined && signal?.aborted) giveUp();
    });
  }

  /** Has those who hold more than the waiting tenant give back what nobody takes, as much as is wanted. */
  #reclaim({ pending, counted }: Lease, { held }: Tenant): void {
    const growth = (pending?.counted ?? 0) - counted;
    let missing = held + growth - (this.#options.totalBytes - this.#heldBytes - growth);
    const latestMs = performance.now() - LENT_MS;
    for (const [lease, { sinceMs, giveBack }] of this.#lent) {
      if (missing <= 0) return;
      if (sinceMs > latestMs || this.#tenants.get(lease.tenant)!.held <= held) continue;
      this.#lent.delete(lease);
      missing -= lease.counted;
      giveBack();
    }
  }

  #end(lease: Lease): void {
    const tenant = this.#tenants.get(lease.tenant);
    if (tenant === undefined || lease.uncounted === undefined) return;
    this.#set(lease, tenant, 0);
    lease.pending?.grant(); // The waiting ends, and the lease gets nothing.
    if (lease.uncounted > 0) tenant.uncountedLeases -= 1;
    lease.uncounted = undefined;
    this.#leaveLine(lease, tenant);
    this.#grant();
  }

  #grant(): void {
    while (this.#waiting > 0) {
      const lease = this.#next();
      if (lease?.pending === undefined) return;
      const { pending } = lease;
      this.#set(lease, this.#tenants.get(lease.tenant)!, pending.counted);
      pending.grant();
    }
  }

  /** The waiting lease that is served next; undefined while there is no memory for any. */
  #next(): Lease | undefined {
    const [oldest] = this.#line;
    if (oldest?.pending !== undefined) return oldest;
    const tenants = [...this.#tenants.values()].filter(({ line }) => line.size > 0);
    for (const tenant of tenants.toSorted((left, right) => left.held - right.held)) {
      for (const lease of tenant.line) {
        if (lease.pending !== undefined && this.#fits(lease, tenant, lease.pending.counted)) return lease;
      }
    }
    return undefined;
  }

  #fits(lease: Lease, tenant: Tenant, counted: number): boolean {
    const { totalBytes } = this.#options;
    const [oldest] = this.#line;
    if (lease === oldest) return true;
    const growth = counted - lease.counted;
    const held = this.#heldBytes + growth;
    const ofTenant = tenant.held + growth;
    const free = totalBytes - held;
    if (free < 0) return false;
    const [oldestOfTenant] = tenant.line;
    const isFirst = lease === oldestOfTenant || ofTenant === held;
    return ofTenant <= free || (isFirst && free >= totalBytes * RESERVED_PART);
  }

  #set(lease: Lease, tenant: Tenant, counted: number): void {
    this.#heldBytes += counted - lease.counted;
    tenant.held += counted - lease.counted;
    lease.counted = counted;
  }

  /** Decides, too, whether the lease has an uncounted part. */
  #tenantOf(lease: Lease): Tenant {
    const tenant = this.#tenants.get(lease.tenant) ?? { held: 0, uncountedLeases: 0, line: new Set() };
    this.#tenants.set(lease.tenant, tenant);
    if (lease.uncounted === undefined) {
      lease.uncounted = tenant.uncountedLeases < this.#options.uncountedLeases ? this.#options.uncountedBytes : 0;
      if (lease.uncounted > 0) tenant.uncountedLeases += 1;
    }
    return tenant;
  }

  #leaveLine(lease: Lease, tenant: Tenant): void {
    this.#line.delete(lease);
    tenant.line.delete(lease);
    if (tenant.line.size === 0 && tenant.uncountedLeases === 0) this.#tenants.delete(lease.tenant);
  }
}

interface Lease {
  tenant: string;
  counted: number;
  /** The number of its bytes that are not counted; undefined before it has asked for any. */
  uncounted: number | undefined;
  pending: { counted: number; grant(): void } | undefined;
}

interface Tenant {
  held: number;
  uncountedLeases: number;
  /** The line of this tenant, ordered as `#line` is. */
  line: Set<Lease>;
}

/** A lease with this signal gets memory at once or not at all. */
export const NEVER_WAITS = AbortSignal.abort(new Error('There is no memory for it.'));
