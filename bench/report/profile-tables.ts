// Tables of the profiles of `bench/breakdown.ts --profile`. They show where each thread of the service spent its busy
// time.
import { readdirSync, readFileSync } from 'node:fs';
import type { Profiler, Runtime } from 'node:inspector';
import path from 'node:path';
import type { Table } from './tables.js';

/** Threads with less busy time, and places with a smaller share, are left out. */
const MIN_BUSY_MS = 50;
const MIN_SHARE = 0.01;
/** The profiler's name for time in which the thread had nothing to do. */
const IDLE = '(idle)';

export function toProfileTables(folder: string, runs: number): Table[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'));
  return files.toSorted().flatMap((file) => {
    const profile = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Profiler.Profile;
    const byPlace = selfMsByPlace(profile);
    const busyMs = [...byPlace.values()].reduce((sum, ms) => sum + ms, 0);
    if (busyMs < MIN_BUSY_MS) return [];
    const rows = [...byPlace]
      .filter(([, ms]) => ms >= busyMs * MIN_SHARE)
      .toSorted(([, a], [, b]) => b - a)
      .map(([place, ms]) => [place, ((ms * 100) / busyMs).toFixed(1), (ms / runs).toFixed(2)]);
    const title = `${file.replace('.cpuprofile', '')}: ${(busyMs / runs).toFixed(1)} ms a run`;
    return [{ title, words: 1, head: ['where', '% of busy time', 'ms a run'], rows }];
  });
}

function selfMsByPlace({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const placeOf = new Map(nodes.map(({ id, callFrame }) => [id, toPlace(callFrame)]));
  const byPlace = new Map<string, number>();
  samples.forEach((id, index) => {
    const place = placeOf.get(id)!;
    // Attribute the time until the next sample to this sample's place.
    if (place !== IDLE) byPlace.set(place, (byPlace.get(place) ?? 0) + (timeDeltas[index + 1] ?? 0) / 1000);
  });
  return byPlace;
}

/**
 * Returns a package, a part of Node.js, a file of this repository, or an engine task such as `(garbage collector)`.
 */
function toPlace({ url, functionName }: Pick<Runtime.CallFrame, 'url' | 'functionName'>): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inPackage !== undefined) return inPackage;
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const own = /\/dist\/(.+)$/.exec(url)?.[1];
  if (own !== undefined) return own;
  return url === '' ? functionName || '(native)' : path.basename(url);
}
