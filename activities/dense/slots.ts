import { startWindow } from './two-clocks.js';

/** How many nodes of shared activities may be executed at once. Who finds none waits in line. */
export class Slots {
  #free: number;
  /** Those that wait, in their order: each is called when it has a slot. */
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves once there is one, in turn. Rejects with the signal's reason when that is aborted first. */
  async take(signal: AbortSignal): Promise<void> {
    if (!this.#takeFree() && !(await this.#turn(signal))) signal.throwIfAborted();
  }

  /**
   * Returns whether there was one, in turn, within `ms` and before `signal` was aborted. A process that was paused for
   * longer than that gets none: its run may be with another worker.
   */
  async takeWithin(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#takeFree()) return true;
    const isInTime = startWindow(ms);
    if (!(await this.#turn(AbortSignal.any([signal, AbortSignal.timeout(ms)])))) return false;
    if (isInTime()) return true;
    this.release();
    return false;
  }

  release(): void {
    const [next] = this.#line;
    if (next === undefined) this.#free++;
    else next();
  }

  #takeFree(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  #turn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (hasSlot: boolean): void => {
        this.#line.delete(begin);
        signal.removeEventListener('abort', leave);
        resolve(hasSlot);
      };
      const begin = (): void => settle(true);
      const leave = (): void => settle(false);
      this.#line.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
