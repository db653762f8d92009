// Random choices that are the same for the same seed.

export interface Random {
  /** An integer from 0 to `below - 1`. */
  integer: (below: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(from: readonly T[]) => T;
  shuffled: <T>(all: readonly T[]) => T[];
}

/** The generator mulberry32, which is short and good enough for choices. */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (from) => from[integer(from.length)]!,
    shuffled(all) {
      const left = [...all];
      for (let at = left.length - 1; at > 0; at -= 1) {
        const other = integer(at + 1);
        [left[at], left[other]] = [left[other]!, left[at]!];
      }
      return left;
    },
  };
}
