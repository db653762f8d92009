export interface RunSet {
  isEmpty(): boolean;
  add(...runIds: string[]): void;
  /** Empties the set. */
  takeAll(): string[];
}

/** Ids of runs, each once, in the order in which they were first added. */
export function createRunSet(): RunSet {
  const ids = new Set<string>();
  return {
    isEmpty: () => ids.size === 0,
    add(...runIds) {
      for (const id of runIds) ids.add(id);
    },
    takeAll() {
      const taken = [...ids];
      ids.clear();
      return taken;
    },
  };
}
