// Limits the share of a worker's slots that one project may hold. Temporal's fairness only orders its queue. Without
// this limit, the long calls of one project could hold every slot, and all other projects would wait for them.
import { FairLine } from '../../fairness/fair-line.js';
import { Holdings } from '../../fairness/holdings.js';

interface ProjectSlotsOptions {
  /** The limit on activities that the worker runs at once. */
  slots: number;
  /** The limit for one project while no other project holds a slot. */
  projectSlots: number;
}

export interface SlotsLoad {
  /** The number of activities that wait for a slot, without nodes of a walk that wait for a further one. */
  waitingActivities: number;
  /** The number of slots of the project that holds the most. */
  largestShare: number;
}

export class ProjectSlots {
  readonly #slots: number;
  readonly #projectSlots: number;
  readonly #held = new Holdings<number>();
  #waitingActivities = 0;
  readonly #line = new FairLine<number, { projectId: number }>({ rankOf: (projectId) => this.#held.of(projectId) });

  constructor({ slots, projectSlots }: ProjectSlotsOptions) {
    this.#slots = slots;
    this.#projectSlots = projectSlots;
  }

  load(): SlotsLoad {
    return { waitingActivities: this.#waitingActivities, largestShare: this.#held.largest };
  }

  /**
   * Returns true if the project got a slot: at once, or within `ms` and before `signal` was aborted. The caller must
   * then release the slot. `isFurther` is true for a node of a walk whose activity holds a slot already.
   */
  take(projectId: number, ms: number, signal: AbortSignal, isFurther = false): Promise<boolean> | boolean {
    if (!this.#mayTake(projectId)) return !signal.aborted && this.#wait(projectId, ms, signal, isFurther);
    this.#held.add(projectId, 1);
    return true;
  }

  /**
   * Gives the slot to the waiting project that holds the fewest. A released slot enlarges all shares, so any
   * project may be next, and several may get a slot.
   */
  release(projectId: number): void {
    this.#held.add(projectId, -1);
    for (;;) {
      const next = this.#line.next((waiting) => this.#mayTake(waiting.projectId));
      if (next === undefined) return;
      this.#held.add(next.projectId, 1);
    }
  }

  /**
   * A project may hold a fixed multiple of the free slots. One project alone gets at most `projectSlots`, and the limit
   * falls as others hold more. Two projects that want all slots end up with the same number each, and some slots stay
   * free for a third. A project without a slot is never refused, so that each project proceeds. The total may then
   * exceed `slots`, because the further nodes of a walk take slots here that Temporal does not count.
   */
  #mayTake(projectId: number): boolean {
    const held = this.#held.of(projectId);
    if (held === 0) return true;
    const free = this.#slots - this.#held.total;
    return held * (this.#slots - this.#projectSlots) < free * this.#projectSlots;
  }

  async #wait(projectId: number, ms: number, signal: AbortSignal, isFurther: boolean): Promise<boolean> {
    const patience = { ms, toError: () => new Error('The slots of the project were not free in time.') };
    if (!isFurther) this.#waitingActivities += 1;
    try {
      await this.#line.wait(projectId, { projectId }, { signal, patience });
      return true;
    } catch {
      return false;
    } finally {
      if (!isFurther) this.#waitingActivities -= 1;
    }
  }
}
