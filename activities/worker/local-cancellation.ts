// Cancels local activities at the request of their workflow (contract/local-activities.ts). To the activity, this looks
// like a cancellation by the SDK.
import { ApplicationFailure, asyncLocalStorage, CancelledFailure, type Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptors, InjectedSinks } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import { CANCELLED_LOCALLY, type LocalActivitySinks } from '../../contract/local-activities.js';

const { BENIGN } = ApplicationFailureCategory;
const MESSAGE = 'The run has cancelled the activity.';
/**
 * Cancelled activities are remembered by execution, because a cancelled activity may still wait for its next attempt,
 * which must fail at once. `max` is the number of executions, and `ttl` how long each is remembered.
 */
const REMEMBERED = { max: 10_000, ttl: 10 * 60_000 };

export interface LocalCancellation {
  sinks: InjectedSinks<LocalActivitySinks>;
  interceptor: (context: Context) => ActivityInterceptors;
}

export function createLocalCancellation(): LocalCancellation {
  const underWay = new Map<string, AbortController>();
  const cancelled = new LRUCache<string, Set<string>>(REMEMBERED);

  async function execute<Result>(context: Context, runId: string, next: () => Promise<Result>): Promise<Result> {
    const { activityId } = context.info;
    if (cancelled.get(runId)?.has(activityId) === true) throw cancelledFailure();
    const key = keyOf(runId, activityId);
    const own = new AbortController();
    underWay.set(key, own);
    try {
      return await asyncLocalStorage.run(withSignal(context, own.signal), next);
    } catch (error) {
      throw own.signal.aborted && error instanceof CancelledFailure ? cancelledFailure() : error;
    } finally {
      if (underWay.get(key) === own) underWay.delete(key);
    }
  }

  // Both sinks are also called on replay, because a worker that replays an execution also executes those of its local
  // activities that had not ended.
  const sinks: LocalCancellation['sinks'] = {
    localActivities: {
      begin: { fn: ({ runId }) => void cancelled.delete(runId), callDuringReplay: true },
      cancel: {
        fn({ runId }, activityId) {
          cancelled.set(runId, (cancelled.get(runId) ?? new Set()).add(activityId));
          underWay.get(keyOf(runId, activityId))?.abort(new CancelledFailure(MESSAGE));
        },
        callDuringReplay: true,
      },
    },
  };
  return {
    sinks,
    interceptor(context) {
      const { isLocal, workflowExecution } = context.info;
      if (!isLocal || workflowExecution === undefined) return {};
      const { runId } = workflowExecution;
      return { inbound: { execute: (input, next) => execute(context, runId, () => next(input)) } };
    },
  };
}

function keyOf(runId: string, activityId: string): string {
  return `${runId}/${activityId}`;
}

/** Returns a context that `signal` also cancels. */
function withSignal(context: Context, signal: AbortSignal): Context {
  const bySignal = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  const cancelled = Promise.race([context.cancelled, bySignal]);
  cancelled.catch(() => undefined);
  return Object.create(context, {
    cancelled: { value: cancelled },
    cancellationSignal: { value: AbortSignal.any([context.cancellationSignal, signal]) },
    cancellationDetails: {
      get: () => context.cancellationDetails ?? (signal.aborted ? { cancelRequested: true } : undefined),
    },
  }) as Context;
}

function cancelledFailure(): ApplicationFailure {
  return ApplicationFailure.create({ type: CANCELLED_LOCALLY, message: MESSAGE, nonRetryable: true, category: BENIGN });
}
