import type { RefusedInput } from '../runs/refused-input.js';

/** A message that starts no run, and of which nothing is kept. It is answered with 422. */
export class RefusedMessage extends Error {
  override name = 'RefusedMessage';
  readonly refusal: RefusedInput;

  constructor(refusal: RefusedInput) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}
