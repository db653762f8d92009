// Takes turns at work that occupies the event loop for long: reading, checking and masking of large drawings.
import { performance } from 'node:perf_hooks';
import { overloaded } from './errors.js';

/** Smaller work takes a few milliseconds and no turn. */
const SMALL_BYTES = 512 * 1024;
/** The longest wait for a turn, and the number of a tenant's requests that may wait. */
const PATIENCE_MS = 20_000;
const MOST_WAITING = 32;

export interface Asker {
  tenant: string;
  /** Whose drawing it is; undefined where it is nobody's. */
  projectId?: number | undefined;
  signal: AbortSignal;
}

interface Waiting {
  projectId: number | undefined;
  begin: () => void;
}

/**
 * One turn is taken at a time, by the tenants in rotation, and between two turns the event loop belongs to everybody else
 * for as long as it was occupied by the last one. Large drawings therefore take at most half of the time of the process,
 * and each tenant an equal part of that. Neither a tenant nor a project takes two turns in a row while others wait, so
 * that many users of one project take no more than every second turn.
 */
export class HeavyTurns {
  /** The waiting requests, by tenant; the tenant that was served last is at the end. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #isTaken = false;
  #last: Asker | undefined;

  /** Throws 503 when the turn does not come in time, and the reason of the signal when that is aborted. */
  async take<T>(asker: Asker, sizeBytes: number, work: () => Promise<T> | T): Promise<T> {
    if (sizeBytes <= SMALL_BYTES) return work();
    if (this.#isTaken) await this.#wait(asker);
    this.#isTaken = true;
    this.#last = asker;
    const before = performance.eventLoopUtilization();
    try {
      return await work();
    } finally {
      const { active } = performance.eventLoopUtilization(before);
      setTimeout(() => this.#next(), active);
    }
  }

  #wait({ tenant, projectId, signal }: Asker): Promise<void> {
    const ofTenant = this.#waiting.get(tenant) ?? new Set();
    if (ofTenant.size >= MOST_WAITING) throw overloaded();
    this.#waiting.set(tenant, ofTenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', hangUp);
        ofTenant.delete(waiting);
        if (ofTenant.size === 0) this.#waiting.delete(tenant);
      };
      const waiting: Waiting = {
        projectId,
        begin: () => {
          leave();
          resolve();
        },
      };
      const giveUp = (error: Error): void => {
        leave();
        reject(error);
      };
      const hangUp = (): void => giveUp(signal.reason as Error);
      const timer = setTimeout(() => giveUp(overloaded()), PATIENCE_MS);
      signal.addEventListener('abort', hangUp, { once: true });
      ofTenant.add(waiting);
      if (signal.aborted) hangUp();
    });
  }

  #next(): void {
    const next = this.#find((tenant, projectId) => !this.#wasLast(tenant, projectId)) ?? this.#find(() => true);
    if (next === undefined) {
      this.#isTaken = false;
      return;
    }
    const { tenant, ofTenant, waiting } = next;
    waiting.begin();
    if (!this.#waiting.delete(tenant)) return;
    this.#waiting.set(tenant, ofTenant);
  }

  #wasLast(tenant: string, projectId: number | undefined): boolean {
    return tenant === this.#last?.tenant || (projectId !== undefined && projectId === this.#last?.projectId);
  }

  #find(isNext: (tenant: string, projectId: number | undefined) => boolean) {
    for (const [tenant, ofTenant] of this.#waiting) {
      for (const waiting of ofTenant) if (isNext(tenant, waiting.projectId)) return { tenant, ofTenant, waiting };
    }
    return undefined;
  }
}
