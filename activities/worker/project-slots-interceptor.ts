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

/** The end of a run waits for nothing: whoever polls waits for it, and it frees what the run holds. */
const EXEMPT = new Set(['finishRun']);
/**
 * On average; meanwhile the activity keeps a slot of Temporal's from the others. Much shorter, a project with thousands of
 * nodes in the queue would keep the server busy with handing them out and taking them back.
 */
const WAIT_MS = 500;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 4_000;

/**
 * An activity whose project holds its share of the slots waits for a moment, and then goes back to Temporal's queue, where
 * the activities of other projects come first. Nothing of its node has begun by then, so that no attempt of the node is
 * counted.
 */
export function createProjectSlotsInterceptor(deps: ProjectSlotsDeps): (context: Context) => ActivityInterceptors {
  const { slots, contexts, handedBack } = deps;
  return (context) => {
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        const { info, cancellationSignal } = context;
        if (info.isLocal || EXEMPT.has(info.activityType)) return next(input);
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
 * By the run, not by the activity's fairness key, which the server leaves out of activities that it delivers together with
 * a workflow task. Undefined where the run cannot be loaded: the activity itself says why.
 */
async function findProject(contexts: Pick<RunContexts, 'load'>, args: unknown[]): Promise<number | undefined> {
  const { runId } = args[0] as { runId: string };
  try {
    return (await contexts.load(runId)).projectId;
  } catch {
    return undefined;
  }
}

/** BENIGN: it is no failure for anybody's log. */
function handBack(attempt: number): ApplicationFailure {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return ApplicationFailure.create({
    type: 'project_slots_taken',
    message: 'The project holds its share of the slots of this worker; the activity goes back to the queue.',
    nextRetryDelay: withJitter(delayMs),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** What arrives together leaves one by one. */
function withJitter(ms: number): number {
  return Math.round(ms * (0.5 + Math.random()));
}
