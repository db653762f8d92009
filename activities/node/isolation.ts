// Nodes whose workers died run apart from each other, so that the next death tells which of them is the cause.
// docs/adr/0030-deaths-of-workers.md gives the reasons.
import type { Deaths } from '../../db/nodes/node-attempts-repository.js';

/** So many such nodes run on a worker at once. */
const TOGETHER = 4;
/** With so many deaths a node runs without any other such node. */
const ALONE_FROM = 4;
/** A node whose shares of deaths reach this is given up. Shares are sums of fractions. */
const GIVEN_UP_AT = 3 - 1e-6;
/** How a node runs that workers have died with at least twice. */
export function toTreatment({ count, shares }: Pick<Deaths, 'count' | 'shares'>): 'together' | 'alone' | 'given up' {
  if (shares >= GIVEN_UP_AT) return 'given up';
  return count >= ALONE_FROM ? 'alone' : 'together';
}

interface Waiting {
  isAlone: boolean;
  admit: () => void;
}

/** The nodes that run apart on this worker. */
export class Isolation {
  readonly #line = new Set<Waiting>();
  #running = 0;
  #isOneAlone = false;

  /** Whether the node may begin, within `ms` and before `signal` is aborted. The caller must then call `release`. */
  take(isAlone: boolean, ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#mayBegin(isAlone)) {
      this.#begin(isAlone);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const endWait = (mayBegin: boolean): void => {
        this.#line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if (mayBegin) this.#begin(isAlone);
        resolve(mayBegin);
      };
      const waiting: Waiting = { isAlone, admit: () => endWait(true) };
      const leave = (): void => endWait(false);
      const timer = setTimeout(leave, ms);
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiting);
    });
  }

  release(): void {
    this.#running -= 1;
    this.#isOneAlone = false;
    for (const waiting of this.#line) if (this.#mayBegin(waiting.isAlone)) waiting.admit();
  }

  #mayBegin(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : this.#running < TOGETHER && !this.#isOneAlone;
  }

  #begin(isAlone: boolean): void {
    this.#running += 1;
    this.#isOneAlone = isAlone;
  }
}
