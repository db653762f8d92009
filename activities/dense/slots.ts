import { startWindow } from './two-clocks.js';

/** Limits how many nodes of shared activities are executed at once. Callers wait in line for a free slot. */
export class Slots {
  #free: number;
  /** The waiting callers, in order of arrival. Each callback is called when its caller has got a slot. */
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when the caller has got a slot. Rejects with the signal's reason when the signal is aborted first. */
  async take(signal: AbortSignal): Promise<void> {
    if (!this.#takeFree() && !(await this.#turn(signal))) signal.throwIfAborted();
  }

  /**
   * Returns whether the caller got a slot within `ms` and before `signal` was aborted. A process that was paused for
   * longer than `ms` gets none, because another worker may be executing its run.
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
