// Shares the slots for processes between projects.
import { FairLine } from '../fairness/fair-line.js';
import { Holdings } from '../fairness/holdings.js';

interface SlotLimits {
  /** The limit on tasks at once. */
  total: number;
  /** The limit for one project, so that endless loops of one project never block all others. */
  perProject: number;
}

/** The tasks of a project start in order of arrival. Waiting projects are served in rotation. */
export class ProcessSlots {
  readonly #limits: SlotLimits;
  readonly #held = new Holdings<number>();
  readonly #line = new FairLine<number, { projectId: number }>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** The number of occupied slots. */
  get held(): number {
    return this.#held.total;
  }

  /** The number of waiting tasks of a project. */
  waitingOf(projectId: number): number {
    return this.#line.sizeOf(projectId);
  }

  /**
   * Resolves when the caller has a slot, which it must release. Rejects with the reason of `signal` if that is aborted.
   */
  async take(projectId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#mayTake(projectId)) this.#held.add(projectId, 1);
    else await this.#line.wait(projectId, { projectId }, { signal });
  }

  /** Gives the slot to the next waiting project that is below its limit. */
  release(projectId: number): void {
    this.#held.add(projectId, -1);
    for (;;) {
      const next = this.#line.next((waiting) => this.#mayTake(waiting.projectId));
      if (next === undefined) return;
      this.#held.add(next.projectId, 1);
    }
  }

  #mayTake(projectId: number): boolean {
    return this.#held.total < this.#limits.total && this.#held.of(projectId) < this.#limits.perProject;
  }
}
