import type { Plan } from './plan.js';

/** Returns whether a run can have finished node `before` when node `id` starts. */
export type UpstreamTest = (before: string, id: string) => boolean;

/**
 * Each node has one row of bits, which is 3 MB for 5,000 nodes. The first question fills all rows in one pass over the
 * edges.
 */
export function createUpstreamTest(plan: Plan): UpstreamTest {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  let rows: Uint32Array[] | undefined;
  return (before, id) => {
    const from = numbers.get(before);
    const to = numbers.get(id);
    if (from === undefined || to === undefined) return false;
    rows ??= ancestorsOf(plan);
    return (((rows[to]?.[from >>> 5] ?? 0) >>> (from & 31)) & 1) === 1;
  };
}

function ancestorsOf(plan: Plan): Uint32Array[] {
  const width = Math.ceil(plan.ids.length / 32);
  const rows = plan.ids.map(() => new Uint32Array(width));
  const open = [...plan.indegree];
  const settled = [0];
  // The list grows while it is iterated: a node is appended when all nodes before it are done.
  for (const from of settled) {
    const source = rows[from];
    for (const [to] of plan.out[from] ?? []) {
      const target = rows[to];
      if (!source || !target) continue;
      for (let word = 0; word < width; word += 1) target[word] = (target[word] ?? 0) | (source[word] ?? 0);
      target[from >>> 5] = (target[from >>> 5] ?? 0) | (1 << (from & 31));
      const left = (open[to] ?? 0) - 1;
      open[to] = left;
      if (left === 0) settled.push(to);
    }
  }
  return rows;
}
