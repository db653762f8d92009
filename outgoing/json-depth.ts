/** Whether arrays and objects stand more than `limit` deep in each other. `JSON.parse` takes a depth that nothing else does. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => Object.values(item)).filter(isNested);
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
