// Hands out the slots in which a worker takes tasks from Temporal. A worker polls only with a free slot, so a worker
// that gets no slot takes no task.
import type { CustomSlotSupplier, SlotInfo, SlotPermit } from '@temporalio/worker';
import type { DatabasePulse } from '../../db/core/pulse.js';

interface Waiting {
  resolve: (permit: SlotPermit) => void;
}

/**
 * Allows at most `size` tasks at once, and no further task while the database takes no work: the steps of the task
 * would fail, and another worker may reach the database. A poll that is already under way may still bring one task.
 */
export class Slots<Info extends SlotInfo> implements CustomSlotSupplier<Info> {
  readonly type = 'custom';
  readonly #size: number;
  readonly #pulse: Pick<DatabasePulse, 'state' | 'watch'>;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(size: number, pulse: Pick<DatabasePulse, 'state' | 'watch'>) {
    this.#size = size;
    this.#pulse = pulse;
    pulse.watch(() => this.#handOut());
  }

  reserveSlot(_context: unknown, aborted: AbortSignal): Promise<SlotPermit> {
    return new Promise((resolve, reject) => {
      // The SDK requires that the promise rejects with the reason of the signal.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      const giveUp = (): void => reject(aborted.reason);
      if (aborted.aborted) return giveUp();
      const waiting: Waiting = {
        resolve(permit) {
          aborted.removeEventListener('abort', stopWaiting);
          resolve(permit);
        },
      };
      const stopWaiting = (): void => {
        this.#waiting.delete(waiting);
        giveUp();
      };
      aborted.addEventListener('abort', stopWaiting, { once: true });
      this.#waiting.add(waiting);
      this.#handOut();
    });
  }

  tryReserveSlot(): SlotPermit | null {
    if (!this.#hasSlot()) return null;
    this.#taken += 1;
    return {};
  }

  markSlotUsed(): void {
    // A slot counts from its reservation.
  }

  releaseSlot(): void {
    this.#taken -= 1;
    this.#handOut();
  }

  #hasSlot(): boolean {
    return this.#taken < this.#size && this.#pulse.state === 'well';
  }

  #handOut(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasSlot()) return;
      this.#waiting.delete(waiting);
      this.#taken += 1;
      waiting.resolve({});
    }
  }
}
