/**
 * Collects the bytes of chunks of any size. It copies the bytes, because a million chunks of one byte each would need a
 * gigabyte.
 */
export class GrowingBuffer {
  #bytes = Buffer.alloc(0);
  sizeBytes = 0;

  add(chunk: Uint8Array): void {
    const sizeBytes = this.sizeBytes + chunk.length;
    if (sizeBytes > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, sizeBytes));
      this.#bytes.copy(grown, 0, 0, this.sizeBytes);
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.sizeBytes);
    this.sizeBytes = sizeBytes;
  }

  /** Returns all bytes so far and empties the buffer. */
  drain(): Uint8Array {
    const collected = this.#bytes.subarray(0, this.sizeBytes);
    this.#bytes = Buffer.alloc(0);
    this.sizeBytes = 0;
    return collected;
  }
}
