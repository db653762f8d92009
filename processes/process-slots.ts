// Shares the slots for processes between owners: projects in a worker, users in the API.
import { FairLine } from '../fairness/fair-line.js';
import { Holdings } from '../fairness/holdings.js';

interface SlotLimits {
  /** The limit on tasks at once. */
  total: number;
  /** The limit for one owner, so that endless loops of one owner never block all others. */
  perOwner: number;
}

/** The tasks of an owner start in order of arrival. Waiting owners are served in rotation. */
export class ProcessSlots {
  readonly #limits: SlotLimits;
  readonly #held = new Holdings<number>();
  readonly #line = new FairLine<number, { ownerId: number }>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** The number of occupied slots. */
  get held(): number {
    return this.#held.total;
  }

  /** The number of waiting tasks of an owner. */
  waitingOf(ownerId: number): number {
    return this.#line.sizeOf(ownerId);
  }

  /**
   * Resolves when the caller has a slot, which it must release. Rejects with the reason of `signal` if that is aborted.
   */
  async take(ownerId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#mayTake(ownerId)) this.#held.add(ownerId, 1);
    else await this.#line.wait(ownerId, { ownerId }, { signal });
  }

  /** Gives the slot to the next waiting owner that is below its limit. */
  release(ownerId: number): void {
    this.#held.add(ownerId, -1);
    for (;;) {
      const next = this.#line.next((waiting) => this.#mayTake(waiting.ownerId));
      if (next === undefined) return;
      this.#held.add(next.ownerId, 1);
    }
  }

  #mayTake(ownerId: number): boolean {
    return this.#held.total < this.#limits.total && this.#held.of(ownerId) < this.#limits.perOwner;
  }
}
