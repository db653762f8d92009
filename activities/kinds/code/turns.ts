// Who may run code next.

export interface TurnLimits {
  /** The limit on programs at once. */
  total: number;
  /** The limit for one project, so that the endless loops of one never keep the code of all others waiting. */
  perProject: number;
}

interface Waiting {
  projectId: number;
  begin: () => void;
}

export class Turns {
  readonly #limits: TurnLimits;
  readonly #held = new Map<number, number>();
  /** In order of arrival. */
  readonly #line = new Set<Waiting>();
  #allHeld = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** The number of turns that have begun and not ended. */
  get held(): number {
    return this.#allHeld;
  }

  /** Resolves when it is the caller's turn, who must end it. Rejects with the reason of `signal` when that comes first. */
  async take(projectId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#mayBegin(projectId)) return this.#begin(projectId);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#line.delete(waiting);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        projectId,
        begin: () => {
          this.#line.delete(waiting);
          signal.removeEventListener('abort', leave);
          this.#begin(projectId);
          resolve();
        },
      };
      this.#line.add(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives the turn to the first in line whose project may have it. */
  end(projectId: number): void {
    this.#allHeld -= 1;
    const left = this.#held.get(projectId)! - 1;
    if (left === 0) this.#held.delete(projectId);
    else this.#held.set(projectId, left);
    for (const waiting of this.#line) if (this.#mayBegin(waiting.projectId)) waiting.begin();
  }

  #mayBegin(projectId: number): boolean {
    return this.#allHeld < this.#limits.total && (this.#held.get(projectId) ?? 0) < this.#limits.perProject;
  }

  #begin(projectId: number): void {
    this.#allHeld += 1;
    this.#held.set(projectId, (this.#held.get(projectId) ?? 0) + 1);
  }
}
