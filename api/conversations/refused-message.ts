import type { RefusedInput } from '../runs/refused-input.js';

/** A message that starts no run and is not stored. The route answers it with 422. */
export class RefusedMessage extends Error {
  override name = 'RefusedMessage';
  readonly refusal: RefusedInput;

  constructor(refusal: RefusedInput) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}
