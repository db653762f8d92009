import { ApplicationFailure, CancelledFailure, type Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from '../../telemetry/logger.js';
import { comeBackMs, retryableFailure, secretUnreadable } from '../node/failures.js';
import { outageOf } from '../../db/core/outage.js';
import { MissingKeyError } from '../../db/core/secret-box.js';

/**
 * Keeps secrets out of Temporal's history, which stores failures with their causes and stacks, in plain text unless
 * TEMPORAL_PAYLOAD_KEY is set. Our own failures and cancellations pass unchanged, because they hold only codes, ids and
 * fixed sentences. Every other error (a database error that quotes a row, a bug that quotes an input) is logged and
 * replaced. The replacement is retryable, because the error is the service's and not the node's.
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
          if (outageOf(error) !== undefined) {
            logger.warn({ err: error, run_id, node_id: activityId, activityType, attempt }, 'no database; handed back');
            throw retryableFailure('database_unavailable', comeBackMs());
          }
          logger.error({ err: error, run_id, node_id: activityId, activityType, attempt }, 'activity failed');
          throw toRetryable(error);
        }
      },
    };
    return { inbound };
  };
}

function toRetryable(error: unknown): ApplicationFailure {
  if (error instanceof MissingKeyError) return secretUnreadable();
  return ApplicationFailure.create({ type: 'internal_error', message: 'The activity failed and is tried again.' });
}
