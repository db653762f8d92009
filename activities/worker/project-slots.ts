// The share of a worker's slots that one project may hold. Temporal's fairness only orders what waits in its queue: without
// a share, the long calls of one project would hold every slot, and all others would wait for these to end.

export interface ProjectSlotsOptions {
  /** Activities that the worker runs at once at most. */
  slots: number;
  /** What a project may hold of them while no other project holds any. */
  projectSlots: number;
}

export interface SlotsLoad {
  /** Activities that wait for a slot. */
  waitingActivities: number;
  /** Slots of the project that holds the most. */
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
  /** In the order of their arrival. */
  readonly #line = new Set<Waiting>();
  #allHeld = 0;

  constructor({ slots, projectSlots }: ProjectSlotsOptions) {
    this.#slots = slots;
    this.#projectSlots = projectSlots;
  }

  load(): SlotsLoad {
    return { waitingActivities: this.#line.size, largestShare: Math.max(0, ...this.#held.values()) };
  }

  /** Whether the project got a slot within `ms` and before `signal` was aborted. Who got one must release it. */
  take(projectId: number, ms: number, signal: AbortSignal): Promise<boolean> | boolean {
    if (!this.#mayTake(projectId)) return !signal.aborted && this.#wait(projectId, ms, signal);
    this.#hold(projectId);
    return true;
  }

  /** Gives the slot to the first in line whose project may have it; it makes all shares larger, so that any of them may. */
  release(projectId: number): void {
    this.#allHeld--;
    const left = this.#held.get(projectId)! - 1;
    if (left === 0) this.#held.delete(projectId);
    else this.#held.set(projectId, left);
    for (const waiting of this.#line) if (this.#mayTake(waiting.projectId)) waiting.admit();
  }

  /**
   * A project may hold a fixed multiple of the slots that nobody holds. Alone it comes to `projectSlots`; the more others
   * hold, the less it may: two that want all slots end up with the same number each, and some are always left for a third.
   * Who holds none is never refused: Temporal delivers no more activities than there are slots.
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
      const settle = (hasSlot: boolean): void => {
        this.#line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if (hasSlot) this.#hold(projectId);
        resolve(hasSlot);
      };
      const waiting: Waiting = { projectId, admit: () => settle(true) };
      const leave = (): void => settle(false);
      const timer = setTimeout(leave, ms);
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiting);
    });
  }
}
