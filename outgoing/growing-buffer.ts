/** Bytes collected from chunks of any size. Copied, since a million chunks of one byte each would weigh a gigabyte. */
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

  /** Everything so far; the buffer is empty afterwards. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.sizeBytes);
    this.#bytes = Buffer.alloc(0);
    this.sizeBytes = 0;
    return taken;
  }
}
