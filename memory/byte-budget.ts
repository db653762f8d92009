// Limits how much memory the concurrent work of a process holds, and shares it between tenants. A caller that wants more
// waits until others have finished, so that the process does not run out of memory.
import { FairLine } from '../fairness/fair-line.js';
import { Holdings } from '../fairness/holdings.js';

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
  readonly #leases = new Set<Lease>();
  readonly #held = new Holdings<string>();
  readonly #line = new FairLine<string, Lease>({
    rankOf: (tenant) => this.#held.of(tenant),
    isBefore: (lease, other) => lease.age < other.age,
  });
  /** The leases whose memory others are to take. */
  readonly #lent = new Map<Lease, { sinceMs: number; giveBack: () => void }>();
  #ages = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = { uncountedLeases: Infinity, patienceMs: Infinity, ...options };
  }

  /** The counted bytes that leases hold now. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** The number of leases that wait. */
  get waiting(): number {
    return this.#line.size;
  }

  /** `tenant`: for whom the memory is held, such as `user:7`. Aborting `signal` ends the waiting. */
  lease(tenant: string, signal?: AbortSignal): ByteLease {
    const lease: Lease = { tenant, age: 0, counted: 0, uncounted: undefined, wanted: 0 };
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

  /** Has those who hold more than the waiting tenant give back what nobody takes, as much as is wanted. */
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
    this.#line.serve(lease); // The waiting ends, and the lease gets nothing.
    if (lease.uncounted > 0) tenant.uncountedLeases -= 1;
    lease.uncounted = undefined;
    this.#leave(lease, tenant);
    this.#grant();
  }

  #grant(): void {
    for (let lease = this.#next(); lease !== undefined; lease = this.#next()) this.#set(lease, lease.wanted);
  }

  /** Ends the waiting of the lease that is served next; undefined while there is no memory for any. */
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

  /** Decides, too, whether the lease has an uncounted part. */
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
  /** Its place among the leases that hold or want something: lower numbers are older. */
  age: number;
  counted: number;
  /** The number of its bytes that are not counted; undefined before it has asked for any. */
  uncounted: number | undefined;
  /** The counted bytes that it waits for. */
  wanted: number;
}

interface Tenant {
  uncountedLeases: number;
  /** The leases of this tenant, ordered as `#leases` is. */
  leases: Set<Lease>;
}

/** A lease with this signal gets memory at once or not at all. */
export const NEVER_WAITS = AbortSignal.abort(new Error('There is no memory for it.'));
