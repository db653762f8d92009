// The nodes that a run workflow says are in flight (the query `status`), as polls need them. A query costs a worker and
// Temporal some milliseconds each, so that a run is queried at most once a second, and no poll waits long for an answer.
import { QueryNotRegisteredError, QueryRejectedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { LiveNode } from '../../contract/run-workflow.js';
import type { Metrics } from '../observability/metrics.js';
import { createQueryBreaker } from './query-breaker.js';
import { queryRunStatus } from './temporal-calls.js';

export interface LiveStatus {
  /** What the run's workflow said at most two seconds ago; undefined without such an answer. Never throws. */
  nodesOf(runId: string): Promise<LiveNode[] | undefined>;
}

const ASK_EVERY_MS = 1_000;
const USABLE_MS = 2_000;
const ANSWER_WITHIN_MS = 250;
/** How long a run that did not answer in time is left alone. */
const SILENT_MS = 5_000;
/** More queries than this at once take a busy worker longer than a poll may wait. */
const MAX_UNDER_WAY = 16;
const KEPT_RUNS = 2_000;

interface KnownRun {
  askAtMs: number;
  underWay: Promise<LiveNode[] | undefined> | undefined;
  live: LiveNode[] | undefined;
  answeredAtMs: number;
  /** Polls do not wait for this run's queries: the last one was not answered, or workers seem to be away. */
  isSilent: boolean;
}

/**
 * A poll uses the last answer while it is at most two seconds old, and sends a query once it is one second old, without
 * waiting for it. Only a poll that finds no such answer waits, together with all others that find none.
 */
export function createLiveStatus({ temporal, metrics }: { temporal: Client; metrics: Metrics }): LiveStatus {
  const runs = new LRUCache<string, KnownRun>({ max: KEPT_RUNS });
  const breaker = createQueryBreaker();
  let underWay = 0;

  async function ask(runId: string, run: KnownRun): Promise<LiveNode[] | undefined> {
    underWay++;
    const answer = await queryRunStatus(temporal, runId, ANSWER_WITHIN_MS).catch(toOutcome);
    underWay--;
    run.underWay = undefined;
    const nowMs = performance.now();
    const wasSilent = run.isSilent;
    run.isSilent = answer === 'timed_out';
    if (answer === 'timed_out') {
      if (!wasSilent) breaker.timedOut(nowMs);
      run.askAtMs = nowMs + SILENT_MS;
    } else {
      run.live = answer === 'refused' ? undefined : answer.live;
      run.answeredAtMs = nowMs;
      if (answer !== 'refused') breaker.answered();
    }
    metrics.runQueries.inc({ outcome: typeof answer === 'string' ? answer : 'answered' });
    return typeof answer === 'string' ? undefined : answer.live;
  }

  function askIfDue(runId: string, run: KnownRun, nowMs: number): void {
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
      const nowMs = performance.now();
      const run = runs.get(runId) ?? unknownRun();
      runs.set(runId, run);
      askIfDue(runId, run, nowMs);
      if (run.live !== undefined && nowMs - run.answeredAtMs < USABLE_MS) return run.live;
      return run.isSilent ? undefined : run.underWay;
    },
  };
}

function unknownRun(): KnownRun {
  return { askAtMs: 0, underWay: undefined, live: undefined, answeredAtMs: 0, isSilent: false };
}

/** `refused`: Temporal has no such open run, or its worker knows no such query. That too is an answer. */
function toOutcome(error: unknown): 'refused' | 'timed_out' {
  const isAnswer = [WorkflowNotFoundError, QueryRejectedError, QueryNotRegisteredError].some(
    (type) => error instanceof type,
  );
  return isAnswer ? 'refused' : 'timed_out';
}
