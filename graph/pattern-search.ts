// The Aho-Corasick automaton: finds all patterns in one pass, in time linear in the text, however many and similar the
// patterns are. A regular expression of alternatives, or one `indexOf` for each pattern, is not linear.

export interface Pattern {
  text: string;
  /** The number of code units before and after a match that also belong to it. `after` may be `Infinity`. */
  before: number;
  after: number;
}

/**
 * Calls `report` for the longest pattern that ends at each position, from left to right. `isEndless` is true if the
 * pattern has `after: Infinity`. Returns the length of the longest end of the text that is the start of a pattern, or a
 * whole pattern.
 */
export type PatternSearch = (text: string, report: Report) => number;

type Report = (start: number, end: number, isEndless: boolean) => void;

interface Trie {
  /** Maps `state * 65536 + unit` to a state. 0 is the root. */
  next: Map<number, number>;
  parent: number[];
  unit: number[];
  depth: number[];
  pattern: (Pattern | undefined)[];
}

export function createPatternSearch(patterns: readonly Pattern[]): PatternSearch {
  const trie = buildTrie(patterns);
  const fallback = linkFallbacks(trie);
  const { next, pattern, depth } = trie;
  // Most code units lead from the root to the root, and a table is faster than the map for these.
  const fromRoot = new Uint32Array(65536);
  for (let state = 1; state < trie.parent.length; state += 1) {
    if (trie.parent[state] === 0) fromRoot[trie.unit[state] ?? 0] = state;
  }
  return (text, report) => {
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      let to = state === 0 ? undefined : next.get(state * 65536 + unit);
      while (to === undefined && state !== 0) {
        state = fallback[state] ?? 0;
        if (state !== 0) to = next.get(state * 65536 + unit);
      }
      state = to ?? fromRoot[unit] ?? 0;
      const match = pattern[state];
      if (match) {
        const start = at + 1 - match.text.length - match.before;
        report(Math.max(0, start), Math.min(text.length, at + 1 + match.after), match.after === Infinity);
      }
    }
    return depth[state]!;
  };
}

function buildTrie(patterns: readonly Pattern[]): Trie {
  const trie: Trie = { next: new Map(), parent: [0], unit: [0], depth: [0], pattern: [undefined] };
  for (const pattern of patterns) {
    let state = 0;
    for (let at = 0; at < pattern.text.length; at += 1) {
      const unit = pattern.text.charCodeAt(at);
      let to = trie.next.get(state * 65536 + unit);
      if (to === undefined) {
        to = trie.parent.push(state) - 1;
        trie.unit.push(unit);
        trie.depth.push(at + 1);
        trie.pattern.push(undefined);
        trie.next.set(state * 65536 + unit, to);
      }
      state = to;
    }
    trie.pattern[state] ??= pattern;
  }
  return trie;
}

/**
 * Finds for each state the longest other state that is its suffix. A state without a pattern inherits the pattern of
 * that state.
 */
function linkFallbacks(trie: Trie): Uint32Array {
  const { next, parent, unit, depth, pattern } = trie;
  const fallback = new Uint32Array(parent.length);
  const byDepth = [...parent.keys()].toSorted((left, right) => (depth[left] ?? 0) - (depth[right] ?? 0));
  for (const state of byDepth) {
    if ((depth[state] ?? 0) < 2) continue;
    let from = fallback[parent[state] ?? 0] ?? 0;
    let to = next.get(from * 65536 + (unit[state] ?? 0));
    while (to === undefined && from !== 0) {
      from = fallback[from] ?? 0;
      to = next.get(from * 65536 + (unit[state] ?? 0));
    }
    fallback[state] = to ?? 0;
    pattern[state] ??= pattern[to ?? 0];
  }
  return fallback;
}
