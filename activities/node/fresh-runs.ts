// Runs that began a moment ago, here: of such a run this process alone can have done anything, so that a node which is
// begun for the first time need not be looked up, or marked as begun, in the database.
//
// That a node is begun for the first time takes two to know. The run workflow knows what it has tried itself, and that no
// execution came before it (continue-as-new, an operator's reset) or, for a local try, no workflow task: of a later one
// another worker may have had a part, and have died before it could tell. This process knows that the run's first
// workflow task was its own, and is still: another worker gets it when this one has not answered for ten seconds
// (Temporal's default). A run is fresh for less than that from its acceptance, before which it has no workflow task; by
// two clocks, of which one goes on while a process stands still and the other while the whole machine does. A process that
// dies takes what it knows along: whoever goes on with the run looks everything up, also after a restored backup.
import type { NodeKey } from '../../graph/plan.js';
import { startWindow } from '../dense/two-clocks.js';

export interface FreshRuns {
  /** The run's start was recorded just now, and `ageMs` ago the run was accepted. */
  add(runId: string, ageMs: number): void;
  /** Its first workflow task is being repeated. */
  forget(runId: string): void;
  /** Whether this process knows of nothing that was begun of the node: true once. */
  isFirst(node: NodeKey): boolean;
}

const FRESH_MS = 6_000;

interface FreshRun {
  isFresh: () => boolean;
  begun: Set<string>;
}

export function createFreshRuns(): FreshRuns {
  /** In the order of their beginnings, which is about that of their ends. */
  const runs = new Map<string, FreshRun>();

  function dropStale(): void {
    for (const [runId, run] of runs) {
      if (run.isFresh()) return;
      runs.delete(runId);
    }
  }

  return {
    add(runId, ageMs) {
      dropStale();
      runs.set(runId, { isFresh: startWindow(FRESH_MS - ageMs), begun: new Set() });
    },
    forget: (runId) => void runs.delete(runId),
    isFirst({ runId, nodeId }) {
      const run = runs.get(runId);
      if (run === undefined || !run.isFresh() || run.begun.has(nodeId)) return false;
      run.begun.add(nodeId);
      return true;
    },
  };
}
