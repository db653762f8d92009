import { ApplicationFailure, CancelledFailure, type Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from '../../config/logger.js';
import { MissingKeyError } from '../../db/core/secret-box.js';

/**
 * Failures are written to Temporal's history in plain text, causes and stacks included. Only our own failures, which
 * hold codes and fixed sentences, pass; everything else (a database error quoting a row, a bug quoting an input) is
 * logged here and replaced. Retryable, since it is about us and not about the node.
 */
export function createErrorHygieneInterceptor(logger: Logger): (context: Context) => ActivityInterceptors {
  return (context) => {
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof CancelledFailure) throw error;
          if (error instanceof ApplicationFailure && error.cause === undefined) throw error;
          const { activityType, activityId, workflowExecution, attempt } = context.info;
          const run_id = workflowExecution?.workflowId;
          logger.error({ err: error, run_id, node_id: activityId, activityType, attempt }, 'activity failed');
          throw toRetryable(error);
        }
      },
    };
    return { inbound };
  };
}

/** A key that was taken away too early is put back: the run waits for it and loses nothing. */
function toRetryable(error: unknown): ApplicationFailure {
  if (error instanceof MissingKeyError) {
    const message = 'SECRETS_KEY lacks the key of a stored value; the activity is tried again.';
    return ApplicationFailure.create({ type: 'secret_unreadable', message });
  }
  return ApplicationFailure.create({ type: 'internal_error', message: 'The activity failed and is tried again.' });
}
