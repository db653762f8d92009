// Values combined by nested lists `all` and `any`, such as the comparisons of a condition.

/** The limit on the lists around a comparison of a condition. */
export const MAX_LISTS = 3;
/** The limit on the comparisons of a condition. */
export const MAX_COMPARISONS = 20;

/** An `Each`, or nested lists of them. `Each` must not have a field `all` or `any`. */
export type Combined<Each> = Each | { all: Combined<Each>[] } | { any: Combined<Each>[] };

export function mapCombined<Each extends object, Other>(
  combined: Combined<Each>,
  map: (each: Each) => Other,
): Combined<Other> {
  if (isAll(combined)) return { all: combined.all.map((inner) => mapCombined(inner, map)) };
  if (isAny(combined)) return { any: combined.any.map((inner) => mapCombined(inner, map)) };
  return map(combined);
}

export function eachOf<Each extends object>(combined: Combined<Each>): Each[] {
  if (isAll(combined)) return combined.all.flatMap(eachOf);
  return isAny(combined) ? combined.any.flatMap(eachOf) : [combined];
}

/** Calls `test` from left to right, and only until the answer is known. */
export function holdsCombined<Each extends object>(combined: Combined<Each>, test: (each: Each) => boolean): boolean {
  if (isAll(combined)) return combined.all.every((inner) => holdsCombined(inner, test));
  return isAny(combined) ? combined.any.some((inner) => holdsCombined(inner, test)) : test(combined);
}

function isAll<Each extends object>(combined: Combined<Each>): combined is { all: Combined<Each>[] } {
  return Object.hasOwn(combined, 'all');
}

function isAny<Each extends object>(combined: Combined<Each>): combined is { any: Combined<Each>[] } {
  return Object.hasOwn(combined, 'any');
}
