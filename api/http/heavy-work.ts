// Queues work that occupies the event loop for long: reading, checking and masking of large drawings, bodies and
// results.
import { AsyncLocalStorage } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { FairLine } from '../../fairness/fair-line.js';
import { overloaded } from './errors.js';

/** Smaller work takes a few milliseconds and is not queued. */
const SMALL_BYTES = 512 * 1024;
/** The longest time in the queue. */
const PATIENCE_MS = 20_000;
/** The number of a tenant's requests that may wait. */
const MOST_WAITING = 256;

export interface Asker {
  tenant: string;
  /** The project of the drawing or body; undefined if it has none, or its project is not known yet. */
  projectId?: number | undefined;
  signal: AbortSignal;
}

/** Does work that reads `sizeBytes`. Large work waits in the queue first. */
export type InTurn = <T>(sizeBytes: number, work: () => Promise<T> | T) => Promise<T>;

const turns = new AsyncLocalStorage<() => void>();

/**
 * Ends the turn of the large work that calls this; without a turn, does nothing. Call `endTurn` before a wait for
 * another system, because other large work begins only after the turn. Large work that follows waits for another turn.
 */
export function endTurn(): void {
  turns.getStore()?.();
}

/**
 * Gives large work its turns, one at a time and to the tenants in rotation. After each turn, the queue pauses for as
 * long as the event loop was busy during the turn. Large work therefore takes at most half of the time of the process.
 * Neither a tenant nor a project has two turns in a row while others wait, so the users of one project together get at
 * most every second turn.
 */
export class HeavyWork {
  readonly #line = new FairLine<string, Asker>();
  #isBusy = false;
  #last: Asker | undefined;

  /**
   * Throws 503 if too many requests of the tenant wait or the work is not started in time. Throws the reason of the
   * signal if the signal is aborted while the work waits.
   */
  async run<T>(asker: Asker, sizeBytes: number, work: () => Promise<T> | T): Promise<T> {
    if (sizeBytes <= SMALL_BYTES) return work();
    if (this.#isBusy) await this.#wait(asker);
    this.#isBusy = true;
    this.#last = asker;
    const before = performance.eventLoopUtilization();
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      const { active } = performance.eventLoopUtilization(before);
      setTimeout(() => this.#startNext(), active);
    };
    try {
      return await turns.run(end, async () => work());
    } finally {
      end();
    }
  }

  #wait({ tenant, projectId, signal }: Asker): Promise<void> {
    if (this.#line.sizeOf(tenant) >= MOST_WAITING) throw overloaded();
    const patience = { ms: PATIENCE_MS, toError: overloaded };
    return this.#line.wait(tenant, { tenant, projectId, signal }, { signal, patience });
  }

  #startNext(): void {
    const next = this.#line.next((asker) => !this.#wasLast(asker)) ?? this.#line.next(() => true);
    if (next === undefined) this.#isBusy = false;
  }

  #wasLast({ tenant, projectId }: Asker): boolean {
    return tenant === this.#last?.tenant || (projectId !== undefined && projectId === this.#last?.projectId);
  }
}
