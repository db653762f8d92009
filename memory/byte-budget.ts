// Limits the memory that concurrent work in a process uses, and shares it between tenants. A caller that needs more
// waits until others have finished, so that the process does not run out of memory.
import { FairLine } from '../fairness/fair-line.js';
import { Holdings } from '../fairness/holdings.js';

export interface ByteLease {
  /** The last requested size. */
  readonly bytes: number;
  /**
   * Sets the size of the lease to `bytes`. A reduction takes effect at once. If an increase has to wait, returns a
   * promise, and must not be called again before that settles. The promise rejects with the reason of the lease's
   * signal if that is aborted, and with `MemoryBusyError` after the budget's `patienceMs`. The lease then has its
   * previous size. If the lease ends meanwhile, the promise resolves without memory.
   */
  resize(bytes: number): Promise<void> | undefined;
  /**
   * Marks the lease as waiting for a reader to take its bytes, until the returned function is called. If this takes
   * longer than half a second while a tenant who holds less waits for memory, `giveBack` is called, which should end
   * the lease.
   */
  lend(giveBack: () => void): () => void;
  /** Releases all memory of the lease. May be called more than once. */
  end(): void;
}

interface ByteBudgetOptions {
  totalBytes: number;
  /** The bytes of a lease that are not counted, so that small leases never wait behind large ones. */
  uncountedBytes: number;
  /** The limit on a tenant's leases with an uncounted part. There is no limit by default. */
  uncountedLeases?: number;
  /** The limit on the time that a lease waits. There is no limit by default. */
  patienceMs?: number;
}

export class MemoryBusyError extends Error {
  constructor() {
    super('The memory that the work needs was not free in time.');
    this.name = 'MemoryBusyError';
  }
}

/**
 * Bytes that no reader takes for this long are given back if others wait. The second value is the interval of checks.
 */
const LENT_MS = 500;
const RECLAIM_EVERY_MS = 100;

/** The part of the total that rule 2 below leaves free. Only leases to which rule 1 or 3 applies may use it. */
const RESERVED_PART = 1 / 4;

/**
 * A lease is granted if one of these rules applies. Rules 1 and 2 never exceed the total.
 *
 * 1. The lease's tenant then holds at most as much as remains free. So one tenant gets at most half, two get a third
 *    each, and so on, and some memory always remains for a new tenant.
 * 2. A quarter of the total remains free, and either the lease is the oldest of its tenant, or no other tenant holds
 *    memory.
 * 3. The lease is the oldest of all that hold or wait for memory.
 *
 * Leases may grow while they hold memory. Growing cannot deadlock, because the oldest lease never waits (rule 3), and
 * each lease becomes the oldest one after all earlier ones have ended. The leases therefore hold at most the total,
 * plus the size of the oldest lease, plus the uncounted parts. The tenant that holds the least is served first.
 */
export class ByteBudget {
  readonly #options: Required<ByteBudgetOptions>;
  readonly #tenants = new Map<string, Tenant>();
  /** The leases that hold or wait for counted bytes, oldest first. */
  readonly #leases = new Set<Lease>();
  readonly #held = new Holdings<string>();
  readonly #line = new FairLine<string, Lease>({
    rankOf: (tenant) => this.#held.of(tenant),
    isBefore: (lease, other) => lease.age < other.age,
  });
  /** The leases whose bytes wait for a reader (see `lend`). */
  readonly #lent = new Map<Lease, { sinceMs: number; giveBack: () => void }>();
  #ages = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = { uncountedLeases: Infinity, patienceMs: Infinity, ...options };
  }

  /** The counted bytes of all leases. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** The number of waiting leases. */
  get waiting(): number {
    return this.#line.size;
  }

  /** `tenant` is the owner of the memory, for example `user:7`. Aborting `signal` ends the wait of the lease. */
  lease(tenant: string, signal?: AbortSignal): ByteLease {
    const lease: Lease = { tenant, age: 0, counted: 0, uncounted: undefined, wanted: 0 };
    let asked = 0;
    let hasEnded = false;
    return {
      get bytes() {
        return asked;
      },
      resize: (bytes) => {
        // Nobody would release memory that is requested after the end of the lease.
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
      this.#set(lease, counted);
      if (counted === 0) this.#leave(lease, tenant);
      this.#grant();
      return undefined;
    }
    this.#enter(lease, tenant);
    if (!this.#fits(lease, counted)) return this.#wait(lease, tenant, counted, signal);
    this.#set(lease, counted);
    return undefined;
  }

  #wait(lease: Lease, tenant: Tenant, counted: number, signal: AbortSignal | undefined): Promise<void> {
    const { patienceMs } = this.#options;
    lease.wanted = counted;
    const reclaiming = setInterval(() => this.#reclaim(lease), RECLAIM_EVERY_MS).unref();
    const onUnserved = (): void => {
      if (lease.counted === 0) this.#leave(lease, tenant);
      this.#grant();
    };
    const patience = { ms: patienceMs, toError: () => new MemoryBusyError() };
    return this.#line
      .wait(lease.tenant, lease, { signal, onUnserved, ...(patienceMs !== Infinity && { patience }) })
      .finally(() => clearInterval(reclaiming));
  }

  /** Calls `giveBack` of lent leases whose tenants hold more than the waiting one, until enough memory is released. */
  #reclaim({ tenant, wanted, counted }: Lease): void {
    const held = this.#held.of(tenant);
    const growth = wanted - counted;
    let missing = held + growth - (this.#options.totalBytes - this.#held.total - growth);
    const latestMs = performance.now() - LENT_MS;
    for (const [lease, { sinceMs, giveBack }] of this.#lent) {
      if (missing <= 0) return;
      if (sinceMs > latestMs || this.#held.of(lease.tenant) <= held) continue;
      this.#lent.delete(lease);
      missing -= lease.counted;
      giveBack();
    }
  }

  #end(lease: Lease): void {
    const tenant = this.#tenants.get(lease.tenant);
    if (tenant === undefined || lease.uncounted === undefined) return;
    this.#set(lease, 0);
    this.#line.serve(lease); // ends its wait without memory
    if (lease.uncounted > 0) tenant.uncountedLeases -= 1;
    lease.uncounted = undefined;
    this.#leave(lease, tenant);
    this.#grant();
  }

  #grant(): void {
    for (let lease = this.#next(); lease !== undefined; lease = this.#next()) this.#set(lease, lease.wanted);
  }

  /** Ends the wait of the next lease and returns the lease. Returns undefined if no waiting lease fits. */
  #next(): Lease | undefined {
    const [oldest] = this.#leases;
    if (oldest !== undefined && this.#line.serve(oldest)) return oldest;
    return this.#line.next((lease) => this.#fits(lease, lease.wanted));
  }

  #fits(lease: Lease, counted: number): boolean {
    const { totalBytes } = this.#options;
    const [oldest] = this.#leases;
    if (lease === oldest) return true;
    const growth = counted - lease.counted;
    const held = this.#held.total + growth;
    const ofTenant = this.#held.of(lease.tenant) + growth;
    const free = totalBytes - held;
    if (free < 0) return false;
    const [oldestOfTenant] = this.#tenants.get(lease.tenant)!.leases;
    const isFirst = lease === oldestOfTenant || ofTenant === held;
    return ofTenant <= free || (isFirst && free >= totalBytes * RESERVED_PART);
  }

  #set(lease: Lease, counted: number): void {
    this.#held.add(lease.tenant, counted - lease.counted);
    lease.counted = counted;
  }

  /** Returns the tenant of the lease. On the first call for a lease, also sets its uncounted part. */
  #tenantOf(lease: Lease): Tenant {
    const tenant = this.#tenants.get(lease.tenant) ?? { uncountedLeases: 0, leases: new Set() };
    this.#tenants.set(lease.tenant, tenant);
    if (lease.uncounted === undefined) {
      lease.uncounted = tenant.uncountedLeases < this.#options.uncountedLeases ? this.#options.uncountedBytes : 0;
      if (lease.uncounted > 0) tenant.uncountedLeases += 1;
    }
    return tenant;
  }

  #enter(lease: Lease, tenant: Tenant): void {
    if (this.#leases.has(lease)) return;
    lease.age = this.#ages++;
    this.#leases.add(lease);
    tenant.leases.add(lease);
  }

  #leave(lease: Lease, tenant: Tenant): void {
    this.#leases.delete(lease);
    tenant.leases.delete(lease);
    if (tenant.leases.size === 0 && tenant.uncountedLeases === 0) this.#tenants.delete(lease.tenant);
  }
}

interface Lease {
  tenant: string;
  /** The order of the leases that hold or wait for memory. Lower numbers are older. */
  age: number;
  counted: number;
  /** The number of its bytes that are not counted; undefined before the first request and after the end. */
  uncounted: number | undefined;
  /** The counted bytes that the lease waits for. */
  wanted: number;
}

interface Tenant {
  uncountedLeases: number;
  /** The leases of this tenant, in the order of `#leases`. */
  leases: Set<Lease>;
}

/** A lease with this signal never waits: an increase fails if there is not enough memory. */
export const NEVER_WAITS = AbortSignal.abort(new Error('There is no memory for it.'));
