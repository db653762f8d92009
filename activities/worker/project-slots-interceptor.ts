import { ApplicationFailure, type Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import type { RunContexts } from '../node/run-context.js';
import type { ProjectSlots } from './project-slots.js';

interface ProjectSlotsDeps {
  slots: ProjectSlots;
  contexts: Pick<RunContexts, 'load'>;
  handedBack: { inc(): void };
}

/**
 * The limit on the wait for a slot, before `withJitter`. Meanwhile the activity occupies one of Temporal's slots, which
 * others cannot use. If the limit were much lower, a project with thousands of queued nodes would keep the server busy
 * with delivering and taking back activities.
 */
const WAIT_MS = 500;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 4_000;

/**
 * An activity whose project holds its share of the slots waits briefly for one. If it gets none, it goes back to
 * Temporal's queue, where the activities of other projects come first. Its node has not started by then, so no attempt
 * is counted.
 */
export function createProjectSlotsInterceptor(deps: ProjectSlotsDeps): (context: Context) => ActivityInterceptors {
  const { slots, contexts, handedBack } = deps;
  return (context) => {
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        const { info, cancellationSignal } = context;
        if (info.isLocal) return next(input);
        const projectId = await findProject(contexts, input.args);
        if (projectId === undefined) return next(input);
        if (await slots.take(projectId, withJitter(WAIT_MS), cancellationSignal)) {
          try {
            return await next(input);
          } finally {
            slots.release(projectId);
          }
        }
        if (cancellationSignal.aborted && !context.cancellationDetails?.workerShutdown) return context.cancelled;
        handedBack.inc();
        throw handBack(info.attempt);
      },
    };
    return { inbound };
  };
}

/**
 * Finds the project by the run. The activity's fairness key is no substitute, because activities that the server
 * delivers together with a workflow task lack it. Returns undefined if the run cannot be loaded, because the activity
 * itself reports the reason.
 */
async function findProject(contexts: Pick<RunContexts, 'load'>, args: unknown[]): Promise<number | undefined> {
  const { runId } = args[0] as { runId: string };
  try {
    return (await contexts.load(runId)).projectId;
  } catch {
    return undefined;
  }
}

/** The category BENIGN prevents the SDK from logging the handing back as a failure. */
function handBack(attempt: number): ApplicationFailure {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return ApplicationFailure.create({
    type: 'project_slots_taken',
    message: 'The project holds its share of the slots of this worker; the activity goes back to the queue.',
    nextRetryDelay: withJitter(delayMs),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Spreads activities that arrive together over time. */
function withJitter(ms: number): number {
  return Math.round(ms * (0.5 + Math.random()));
}
