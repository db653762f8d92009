// One lease for works that run at once.
import type { ByteLease } from './byte-budget.js';

/** A part that holds more has to wait until no other part does. */
const LARGE_BYTES = 8 * 1024 * 1024;

interface SplitLease {
  /** A part that is resized by one work alone. Its memory is added to what the lease holds now. */
  part: () => ByteLease;
  /** Afterwards the parts can hold nothing more; what they hold stays with the lease. */
  close: () => void;
}

/**
 * Splits a lease that nobody else resizes meanwhile. The owner of the oldest lease may have more than the budget, so only
 * one part at a time may be large: it needs no more than the owner of one large answer. `signal` ends waiting.
 */
export function splitLease(lease: ByteLease, signal: AbortSignal): SplitLease {
  const held = new Map<object, number>();
  const baseBytes = lease.bytes;
  let isClosed = false;
  /** Changes follow one another, because a lease takes no second one while it waits for the first. */
  let lastChange: Promise<void> = Promise.resolve();
  const line: { part: object; begin: () => void }[] = [];
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
      const waiting = { part, begin: resolve };
      line.push(waiting);
      const leave = (): void => {
        const at = line.indexOf(waiting);
        if (at >= 0) line.splice(at, 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
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
      let asked = 0;
      const resize = async (bytes: number): Promise<void> => {
        asked = bytes;
        if (bytes > LARGE_BYTES) await becomeLarge(part);
        await apply(part, bytes);
        if (bytes <= LARGE_BYTES) endLarge(part);
      };
      return {
        get bytes() {
          return asked;
        },
        resize,
        lend: (giveBack) => lease.lend(giveBack),
        // Closed, the lease is at its owner's disposal.
        end: () => void resize(0).catch(() => endLarge(part)),
      };
    },
    close: () => (isClosed = true),
  };
}
