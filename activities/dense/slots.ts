import { startWindow } from './two-clocks.js';

/** So many at once. Some take theirs in any case; the others wait in line. */
export class Slots {
  #free: number;
  /** Those that wait, in their order: each is told that it has a slot. */
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes one, even where none is left. */
  hold(): void {
    this.#free--;
  }

  /**
   * Whether there was one, in turn, within `ms` and before `signal` was aborted. Not for who stood still for longer than
   * that: the world has gone on.
   */
  async take(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    const isInTime = startWindow(ms);
    if (signal.aborted || !(await this.#turn(ms, signal))) return false;
    if (isInTime()) return true;
    this.release();
    return false;
  }

  release(): void {
    this.#free++;
    const [next] = this.#line;
    if (this.#free <= 0 || next === undefined) return;
    this.#free--;
    next();
  }

  #turn(ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (hasSlot: boolean): void => {
        this.#line.delete(begin);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        resolve(hasSlot);
      };
      const begin = (): void => settle(true);
      const leave = (): void => settle(false);
      const timer = setTimeout(leave, ms);
      this.#line.add(begin);
      signal.addEventListener('abort', leave);
    });
  }
}
