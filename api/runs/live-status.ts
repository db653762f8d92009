// Queries the nodes in flight of a run from its workflow (the query `status`) for polls; a read of one node counts as a
// poll here. A query costs a worker and Temporal some milliseconds each. Each process therefore queries a run at most
// once a second, and no poll waits long for an answer.
import { QueryNotRegisteredError, QueryRejectedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { LiveNode } from '../../contract/run-workflow.js';
import type { Counter } from 'prom-client';
import { queryRunStatus } from './temporal-calls.js';
import { createQueryBreaker } from './query-breaker.js';

export interface LiveStatus {
  /** Returns the workflow's answer of at most two seconds ago; undefined without one. Never throws. */
  nodesOf(runId: string): Promise<LiveNode[] | undefined>;
}

const ASK_EVERY_MS = 1_000;
const USABLE_MS = 2_000;
const ANSWER_WITHIN_MS = 250;
/** A run whose query failed or was not answered in time is not queried for this time. */
const SILENT_MS = 5_000;
/** A busy worker with more concurrent queries takes longer to answer than a poll may wait. */
const MAX_UNDER_WAY = 16;
const CACHED_RUNS = 2_000;
/** Bounds the nodes of all cached answers, about 10 MB. */
const CACHED_NODES = 50_000;

interface QueriedRun {
  askAtMs: number;
  underWay: Promise<LiveNode[] | undefined> | undefined;
  /**
   * True if the last query got no answer or the workers seem to be unavailable. Polls then do not wait for the run's
   * queries.
   */
  isSilent: boolean;
}

interface LiveStatusOptions {
  temporal: Client;
  metrics: { runQueries: Counter<'outcome'> };
}

/**
 * A poll uses the last answer while it is at most two seconds old. If that answer is more than one second old, the poll
 * also sends a query without waiting for it. Only polls without a usable answer wait, all for the same query.
 */
export function createLiveStatus({ temporal, metrics }: LiveStatusOptions): LiveStatus {
  const runs = new LRUCache<string, QueriedRun>({ max: CACHED_RUNS });
  const answers = new LRUCache<string, LiveNode[]>({
    max: CACHED_RUNS,
    maxSize: CACHED_NODES,
    sizeCalculation: (live) => live.length + 1,
    ttl: USABLE_MS,
  });
  const breaker = createQueryBreaker();
  let underWay = 0;

  async function ask(runId: string, run: QueriedRun): Promise<LiveNode[] | undefined> {
    underWay++;
    const answer = await queryRunStatus(temporal, runId, ANSWER_WITHIN_MS).catch(toOutcome);
    underWay--;
    run.underWay = undefined;
    const wasSilent = run.isSilent;
    run.isSilent = answer === 'timed_out';
    metrics.runQueries.inc({ outcome: typeof answer === 'string' ? answer : 'answered' });
    if (answer === 'timed_out') {
      run.askAtMs = performance.now() + SILENT_MS;
      if (!wasSilent) breaker.timedOut(performance.now());
      return undefined;
    }
    const live = answer === 'refused' ? undefined : answer.live;
    answers.set(runId, live);
    if (live !== undefined) breaker.answered();
    return live;
  }

  function askIfDue(runId: string, run: QueriedRun): void {
    const nowMs = performance.now();
    if (run.underWay !== undefined || nowMs < run.askAtMs) return;
    run.askAtMs = nowMs + ASK_EVERY_MS;
    if (underWay >= MAX_UNDER_WAY || !breaker.admits(nowMs)) {
      metrics.runQueries.inc({ outcome: 'skipped' });
      return;
    }
    run.isSilent ||= breaker.isOpen();
    run.underWay = ask(runId, run);
  }

  return {
    async nodesOf(runId) {
      const run = runs.get(runId) ?? { askAtMs: 0, underWay: undefined, isSilent: false };
      runs.set(runId, run);
      askIfDue(runId, run);
      return answers.get(runId) ?? (run.isSilent ? undefined : run.underWay);
    },
  };
}

/** `refused` means that Temporal has no such open run, or that its worker does not know the query. */
function toOutcome(error: unknown): 'refused' | 'timed_out' {
  const isAnswer = [WorkflowNotFoundError, QueryRejectedError, QueryNotRegisteredError].some(
    (type) => error instanceof type,
  );
  return isAnswer ? 'refused' : 'timed_out';
}
