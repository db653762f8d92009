// Watches the memory of the API and the worker, with their child processes, and reports whether they have ended. If no
// control group limits their memory, it kills a process above the limit, as the kernel would.
import { setTimeout as pause } from 'node:timers/promises';
import { withDescendants } from '../../../harness/processes/family.js';
import { rssMiB } from '../../../harness/processes/figures.js';
import { isAlive, signalAll } from '../../../harness/processes/signals.js';
import type { Group } from '../../../harness/processes/cgroups.js';
import { PARTS, type Part, type PartLimits } from './limits.js';

export interface Watched {
  pidOf: (part: Part) => number | undefined;
  limits: Record<Part, PartLimits>;
  groups: Partial<Record<Part, Group>>;
}

export interface MemoryReport {
  peakMiB: Record<Part, number>;
  /** Sentences about processes that have ended. */
  deaths: string[];
}

const SAMPLE_EVERY_MS = 150;

export function watchMemory({ pidOf, limits, groups }: Watched): { end: () => Promise<MemoryReport> } {
  const first = { api: pidOf('api'), worker: pidOf('worker') };
  const killedBefore = { api: groups.api?.countKilled() ?? 0, worker: groups.worker?.countKilled() ?? 0 };
  const killedByUs = new Set<Part>();
  const peakMiB = { api: 0, worker: 0 };
  const over = new AbortController();

  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      for (const part of PARTS) {
        const pid = pidOf(part);
        const weight = pid === undefined ? 0 : weigh(pid);
        peakMiB[part] = Math.max(peakMiB[part], weight);
        if (pid === undefined || groups[part] !== undefined || weight <= limits[part].memoryMiB) continue;
        killedByUs.add(part);
        signalAll([pid], 'SIGKILL');
      }
      await pause(SAMPLE_EVERY_MS);
    }
  };
  const watching = watch();
  return {
    async end() {
      over.abort();
      await watching;
      const deaths = PARTS.flatMap((part) => {
        // Only the main process counts. The kernel kills child processes that run code before it, and other ones take
        // over their programs.
        const pid = pidOf(part);
        if (pid === first[part] && (pid === undefined || isAlive(pid))) return [];
        const atLimit = killedByUs.has(part) || (groups[part]?.countKilled() ?? 0) > killedBefore[part];
        return [atLimit ? `${part} killed at its limit of ${limits[part].memoryMiB} MiB` : `${part} ended`];
      });
      return { peakMiB, deaths };
    },
  };
}

function weigh(pid: number): number {
  return withDescendants(pid).reduce((sum, each) => sum + rssMiB(each), 0);
}
