// Turns decide whose work begins next.

interface TurnLimits {
  /** The limit on works at once. */
  total: number;
  /** The limit for one project, so that the endless loops of one never keep the work of all others waiting. */
  perProject: number;
}

interface Waiting {
  begin: () => void;
}

/** The works of a project begin in order of arrival; projects that wait take turns, however much each of them has. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #held = new Map<number, number>();
  /** The waiting works of each project. The project that has begun something last comes last. */
  readonly #lines = new Map<number, Set<Waiting>>();
  #allHeld = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** The number of turns that have begun and not ended. */
  get held(): number {
    return this.#allHeld;
  }

  /** The number of works of a project that wait. */
  waitingOf(projectId: number): number {
    return this.#lines.get(projectId)?.size ?? 0;
  }

  /** Resolves when the caller has its turn, which it must end. Rejects with the reason of `signal` when that comes first. */
  async take(projectId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#mayBegin(projectId)) return this.#begin(projectId);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#leave(projectId, waiting);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        begin: () => {
          this.#leave(projectId, waiting);
          signal.removeEventListener('abort', leave);
          this.#begin(projectId);
          resolve();
        },
      };
      const line = this.#lines.get(projectId) ?? new Set();
      this.#lines.set(projectId, line.add(waiting));
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives the turn to the next project that waits and may have it. */
  end(projectId: number): void {
    this.#allHeld -= 1;
    const left = this.#held.get(projectId)! - 1;
    if (left === 0) this.#held.delete(projectId);
    else this.#held.set(projectId, left);
    // A project that begins something moves to the end of the map, where it is met again.
    for (const [waitingId, line] of this.#lines) {
      if (this.#allHeld >= this.#limits.total) return;
      const [first] = line;
      if (first !== undefined && this.#mayBegin(waitingId)) first.begin();
    }
  }

  #leave(projectId: number, waiting: Waiting): void {
    const line = this.#lines.get(projectId);
    line?.delete(waiting);
    if (line?.size === 0) this.#lines.delete(projectId);
  }

  #mayBegin(projectId: number): boolean {
    return this.#allHeld < this.#limits.total && (this.#held.get(projectId) ?? 0) < this.#limits.perProject;
  }

  #begin(projectId: number): void {
    this.#allHeld += 1;
    this.#held.set(projectId, (this.#held.get(projectId) ?? 0) + 1);
    const line = this.#lines.get(projectId);
    if (line === undefined) return;
    this.#lines.delete(projectId);
    this.#lines.set(projectId, line);
  }
}
