// The data that reaches a node: by which link, from which place, and after which decisions.
import type { Source } from './draft.js';
import { keyOf, type Place } from './places.js';

/** By decision: the ways of it that lead here. Only the latest decisions are kept. */
export type Guards = ReadonlyMap<string, ReadonlySet<number>>;

export interface Flow {
  source: Source;
  place: Place;
  guards: Guards;
}

const MAX_GUARDS = 20;
/** With more links, none are assumed to exclude each other. */
const MAX_COMPARED = 20;

/** The guards of what comes after all of `flows`. */
export function mergeGuards(flows: readonly Flow[]): Guards {
  const [first, ...others] = flows;
  const merged = new Map<string, ReadonlySet<number>>();
  for (const [decision, ways] of first?.guards ?? []) {
    const all = others.map(({ guards }) => guards.get(decision));
    if (all.every((set) => set !== undefined)) merged.set(decision, new Set([ways, ...all].flatMap((set) => [...set])));
  }
  return merged;
}

export function withGuard(guards: Guards, decision: string, way: number): Guards {
  const kept = [...guards].slice(-MAX_GUARDS + 1);
  return new Map([...kept, [decision, new Set([way])]]);
}

/** Whether at most one of the flows ever brings data. */
export function excludeEachOther(flows: readonly Flow[]): boolean {
  if (flows.length > MAX_COMPARED) return false;
  return flows.every((one, index) => flows.slice(index + 1).every((other) => isEither(one.guards, other.guards)));
}

function isEither(one: Guards, other: Guards): boolean {
  return [...one].some(([decision, ways]) => {
    const others = other.get(decision);
    return others !== undefined && [...ways].every((way) => !others.has(way));
  });
}

/** The different places that flows bring data from, the latest first: if several of them have run, the latest one counts. */
export function placesOf(flows: readonly Flow[]): Place[] {
  const places = new Map(flows.map(({ place }) => [keyOf(place), place]));
  return [...places.values()].toSorted((a, b) => b.order - a.order);
}
