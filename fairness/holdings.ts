/** Counts how much each key holds of a shared resource. */
export class Holdings<Key> {
  readonly #held = new Map<Key, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** The largest amount that one key holds. */
  get largest(): number {
    return Math.max(0, ...this.#held.values());
  }

  of(key: Key): number {
    return this.#held.get(key) ?? 0;
  }

  /** A negative amount reduces the holding. */
  add(key: Key, amount: number): void {
    this.#total += amount;
    const held = this.of(key) + amount;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
  }
}
