// Splits one lease among tasks that run at the same time.
import type { ByteLease } from './byte-budget.js';

/** A part that grows beyond this size waits until no other part exceeds the size. */
const LARGE_BYTES = 8 * 1024 * 1024;

interface SplitLease {
  /** Returns a part, whose memory is added to the initial memory of the lease. Only one task may resize a part. */
  part: () => ByteLease;
  /** Stops the parts from changing the lease. Memory that they hold stays with the lease. */
  close: () => void;
}

/**
 * Nothing else may resize the lease until `close`. The oldest lease may exceed the budget, so only one part at a time
 * may be large. `signal` ends the wait of a part to become large.
 */
export function splitLease(lease: ByteLease, signal: AbortSignal): SplitLease {
  const held = new Map<object, number>();
  const baseBytes = lease.bytes;
  let isClosed = false;
  /** Changes are serialised, because a lease accepts no second change while it waits for the first. */
  let lastChange: Promise<void> = Promise.resolve();
  const line: { part: object; begin: () => void; fail: (error: Error) => void }[] = [];
  let large: object | undefined;

  function apply(part: object, bytes: number): Promise<void> {
    const change = changeAfter(lastChange, part, bytes);
    lastChange = change.catch(() => undefined);
    return change;
  }

  async function changeAfter(before: Promise<void>, part: object, bytes: number): Promise<void> {
    await before;
    if (isClosed) throw new Error('The lease was closed.');
    const heldBytes = held.get(part) ?? 0;
    held.set(part, bytes);
    try {
      await lease.resize([...held.values()].reduce((sum, each) => sum + each, baseBytes));
    } catch (error) {
      held.set(part, heldBytes);
      throw error;
    }
  }

  async function becomeLarge(part: object): Promise<void> {
    if (large === undefined || large === part) {
      large = part;
      return;
    }
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const fail = (error: Error): void => {
        signal.removeEventListener('abort', leave);
        line.splice(line.indexOf(waiting), 1);
        reject(error);
      };
      const leave = (): void => fail(signal.reason as Error);
      const waiting = { part, begin, fail };
      line.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Ends a part's waits in the line when the part ends, so that they do not make the part large later. */
  function leaveLine(part: object): void {
    for (const waiting of line.filter((each) => each.part === part)) waiting.fail(ended());
  }

  function endLarge(part: object): void {
    if (large !== part) return;
    const next = line.shift();
    large = next?.part;
    next?.begin();
  }

  return {
    part() {
      const part = {};
      let requested = 0;
      let hasEnded = false;
      const resize = async (bytes: number): Promise<void> => {
        requested = bytes;
        if (bytes > LARGE_BYTES) await becomeLarge(part);
        if (hasEnded && bytes > 0) {
          endLarge(part);
          throw ended();
        }
        await apply(part, bytes);
        if (bytes <= LARGE_BYTES) endLarge(part);
      };
      return {
        get bytes() {
          return requested;
        },
        resize,
        lend: (giveBack) => lease.lend(giveBack),
        // After `close`, the change fails, because the lease belongs to its owner again.
        end: () => {
          hasEnded = true;
          leaveLine(part);
          void resize(0).catch(() => endLarge(part));
        },
      };
    },
    close: () => (isClosed = true),
  };
}

function ended(): Error {
  return new Error('The part of the lease has ended.');
}
