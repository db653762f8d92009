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
  signal: AbortSignal;
}

/**
 * One turn is taken at a time, by the tenants in rotation, and between two turns the event loop belongs to everybody else
 * for as long as it was occupied by the last one. Large drawings therefore take at most half of the time of the process,
 * and each tenant an equal part of that.
 */
export class HeavyTurns {
  /** The waiting requests, by tenant; the tenant that was served last is at the end. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isTaken = false;

  /** Throws 503 when the turn does not come in time, and the reason of the signal when that is aborted. */
  async take<T>({ tenant, signal }: Asker, sizeBytes: number, work: () => Promise<T> | T): Promise<T> {
    if (sizeBytes <= SMALL_BYTES) return work();
    if (this.#isTaken) await this.#wait(tenant, signal);
    this.#isTaken = true;
    const before = performance.eventLoopUtilization();
    try {
      return await work();
    } finally {
      const { active } = performance.eventLoopUtilization(before);
      setTimeout(() => this.#next(), active);
    }
  }

  #wait(tenant: string, signal: AbortSignal): Promise<void> {
    const ofTenant = this.#waiting.get(tenant) ?? new Set();
    if (ofTenant.size >= MOST_WAITING) throw overloaded();
    this.#waiting.set(tenant, ofTenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', hangUp);
        ofTenant.delete(begin);
        if (ofTenant.size === 0) this.#waiting.delete(tenant);
      };
      const begin = (): void => {
        leave();
        resolve();
      };
      const giveUp = (error: Error): void => {
        leave();
        reject(error);
      };
      const hangUp = (): void => giveUp(signal.reason as Error);
      const timer = setTimeout(() => giveUp(overloaded()), PATIENCE_MS);
      signal.addEventListener('abort', hangUp, { once: true });
      ofTenant.add(begin);
      if (signal.aborted) hangUp();
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isTaken = false;
      return;
    }
    const [tenant, ofTenant] = first;
    const [begin] = ofTenant;
    begin!();
    if (!this.#waiting.delete(tenant)) return;
    this.#waiting.set(tenant, ofTenant);
  }
}
