// Finds the iterations of a loop that the page of a run has not loaded.
import { innermostLoop, iterationsPrefix } from '../../../graph/iteration-path.js';

/** A loop of a run. `path` is the iteration around it, empty outside loops. */
export interface LoopAddress {
  node: string;
  path: string;
}

/** The service lists this many iterations at once. */
export const ITERATIONS_OF_A_PAGE = 100;

/** Returns the loop whose iteration a path names. */
export function loopOf(iteration: string): LoopAddress {
  const { nodeId, path } = innermostLoop(iteration);
  return { node: nodeId, path };
}

/**
 * Returns the page, from 1, with the first iteration of the loop of which no node is known, behind the first `skipped`
 * pages. Undefined if nodes of the first `count` iterations are known. `keys` are those of the known nodes.
 */
export function pageToLoad(
  keys: readonly string[],
  { node, path }: LoopAddress,
  count: number,
  skipped = 0,
): number | undefined {
  const prefix = iterationsPrefix(path, node);
  const known = new Set<number>();
  for (const key of keys) if (key.startsWith(prefix)) known.add(Number.parseInt(key.slice(prefix.length), 10));
  for (let index = skipped * ITERATIONS_OF_A_PAGE; index < count; index += 1) {
    if (!known.has(index)) return Math.floor(index / ITERATIONS_OF_A_PAGE) + 1;
  }
  return undefined;
}
