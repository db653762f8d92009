// The Prometheus metrics of this process; database-metrics.ts has those of the database. docs/operate/operations.md,
// "Metrics".
import { createMetricSet } from '../../telemetry/metric-set.js';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const { registry, counter, gauge, histogram } = createMetricSet();
  return {
    registry,
    // The label is the route's pattern, never a path: ids would create a series each.
    requestSeconds: histogram('http_request_duration_seconds', 'Time from the request to the end of its answer.', {
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    runsAccepted: counter(
      'run_requests_total',
      'Requests to run a workflow, by outcome: accepted, repeated, invalid_nodes or invalid_workflow.',
      { outcome: ['accepted', 'repeated', 'invalid_nodes', 'invalid_workflow'] },
    ),
    runsEnded: counter('runs_ended_total', 'Runs whose end this process has written, by stored status.', {
      status: ['Succeeded', 'Error', 'Cancelled'],
    }),
    runQueries: counter(
      'run_queries_total',
      'Queries to run workflows for polls: answered, refused (run not open), timed_out (by workers) or skipped.',
      { outcome: ['answered', 'refused', 'timed_out', 'skipped'] },
    ),
    runReaders: gauge('run_readers', 'Requests that wait for a run (poll) or follow one (stream).', {
      kind: ['poll', 'stream'],
    }),
    runChangesListening: gauge(
      'run_changes_listening',
      'Whether PostgreSQL tells this process of changes of runs: 1, or 0 while it compares them twice a second.',
    ),
    // `retried`: failed, and another attempt follows. `failed`: no attempts are left. `dropped`: there is no receiver.
    webhookAttempts: counter(
      'webhook_attempts_total',
      'Attempts to deliver a webhook event, by what became of the event.',
      { outcome: ['delivered', 'retried', 'failed', 'dropped'] },
    ),
    webhookAttemptSeconds: histogram(
      'webhook_attempt_duration_seconds',
      'Time until the receiver of a webhook answered, or was given up on.',
      { buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15] },
    ),
    // `refused`: wrong, used or too old. `failed`: busy, the issuer is unavailable, or an error of this service.
    signIns: counter(
      'sign_ins_total',
      'Attempts to sign in, by method (password, link, oidc) and outcome: done, refused, throttled or failed.',
      { method: ['password', 'link', 'oidc'], outcome: ['done', 'refused', 'throttled', 'failed'] },
    ),
    reconciler: {
      rounds: counter(
        'reconciler_rounds_total',
        'Rounds of the reconciler: done, busy (another process was claiming) or failed (Temporal or database away).',
        { outcome: ['done', 'busy', 'failed'] },
      ),
      lastSuccess: gauge(
        'reconciler_last_success_timestamp_seconds',
        'When this process last ended a round of the reconciler; 0 before the first.',
      ),
      checks: counter(
        'reconciler_runs_checked_total',
        'Open runs compared with Temporal, by what was found: open, closed, missing, or failed (no answer).',
        { outcome: ['open', 'closed', 'missing', 'failed'] },
      ),
      startedLate: counter(
        'reconciler_runs_started_total',
        'Accepted runs that the reconciler started, because their start was lost or Temporal was away.',
      ),
      closed: counter(
        'reconciler_runs_closed_total',
        'Runs that the reconciler closed because nobody else could, by the error code that they got.',
        { reason: ['cancelled', 'terminated', 'run_timeout', 'execution_limit', 'execution_lost', 'start_refused'] },
      ),
    },
    retention: {
      rounds: counter(
        'retention_rounds_total',
        'Rounds of retention: done, unfinished (more to do), busy (another process was at it) or failed.',
        { outcome: ['done', 'unfinished', 'busy', 'failed'] },
      ),
      lastSuccess: gauge(
        'retention_last_success_timestamp_seconds',
        'When this process last ended a round of retention with nothing left to do; 0 before the first.',
      ),
      expired: counter(
        'retention_expired_rows_total',
        'Rows that were deleted or emptied, by table; of runs, those whose results expired.',
        { table: [] },
      ),
    },
  };
}
