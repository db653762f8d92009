// Limits the share of a worker's slots that one project may hold. Temporal's fairness only orders its queue. Without
// this limit, the long calls of one project could hold every slot, and all other projects would wait for them.

interface ProjectSlotsOptions {
  /** The limit on activities that the worker runs at once. */
  slots: number;
  /** The limit for one project while no other project holds a slot. */
  projectSlots: number;
}

export interface SlotsLoad {
  /** The number of activities that wait for a slot. */
  waitingActivities: number;
  /** The number of slots of the project that holds the most. */
  largestShare: number;
}

interface Waiting {
  projectId: number;
  admit: () => void;
}

export class ProjectSlots {
  readonly #slots: number;
  readonly #projectSlots: number;
  readonly #held = new Map<number, number>();
  /** The waiting activities in order of arrival. */
  readonly #line = new Set<Waiting>();
  #allHeld = 0;

  constructor({ slots, projectSlots }: ProjectSlotsOptions) {
    this.#slots = slots;
    this.#projectSlots = projectSlots;
  }

  load(): SlotsLoad {
    return { waitingActivities: this.#line.size, largestShare: Math.max(0, ...this.#held.values()) };
  }

  /**
   * Returns whether the project got a slot within `ms` and before `signal` was aborted. The caller must release the
   * slot.
   */
  take(projectId: number, ms: number, signal: AbortSignal): Promise<boolean> | boolean {
    if (!this.#mayTake(projectId)) return !signal.aborted && this.#wait(projectId, ms, signal);
    this.#hold(projectId);
    return true;
  }

  /**
   * Gives the slot to the first waiting activity whose project may have it. A released slot enlarges all shares, so
   * this may be an activity of any project.
   */
  release(projectId: number): void {
    this.#allHeld--;
    const left = this.#held.get(projectId)! - 1;
    if (left === 0) this.#held.delete(projectId);
    else this.#held.set(projectId, left);
    for (const waiting of this.#line) if (this.#mayTake(waiting.projectId)) waiting.admit();
  }

  /**
   * A project may hold a fixed multiple of the free slots. One project alone gets at most `projectSlots`, and the limit
   * falls as others hold more. Two projects that want all slots end up with the same number each, and some slots stay
   * free for a third. A project without a slot is never refused, because Temporal delivers no more activities than
   * there are slots.
   */
  #mayTake(projectId: number): boolean {
    const held = this.#held.get(projectId) ?? 0;
    if (held === 0) return true;
    const free = this.#slots - this.#allHeld;
    return held * (this.#slots - this.#projectSlots) < free * this.#projectSlots;
  }

  #hold(projectId: number): void {
    this.#allHeld++;
    this.#held.set(projectId, (this.#held.get(projectId) ?? 0) + 1);
  }

  #wait(projectId: number, ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const endWait = (hasSlot: boolean): void => {
        this.#line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if (hasSlot) this.#hold(projectId);
        resolve(hasSlot);
      };
      const waiting: Waiting = { projectId, admit: () => endWait(true) };
      const leave = (): void => endWait(false);
      const timer = setTimeout(leave, ms);
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiting);
    });
  }
}
