// The Prometheus metrics of this process, except those of its database connections (telemetry/pool-metrics.ts).
// database-metrics.ts has those of the whole service (docs/operate/operations.md, "Metrics").
import { createMetricSet } from '../../telemetry/metric-set.js';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const { registry, counter, gauge, histogram } = createMetricSet();
  return {
    registry,
    // `route` is the pattern of the route and not the path, because each id in a path would create a series.
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
      'Temporal queries that polls send to the workflows of runs: answered, refused (no open run, or unknown query), ' +
        'timed_out (no answer in time, or an error) or skipped (too many under way, or workers do not answer).',
      { outcome: ['answered', 'refused', 'timed_out', 'skipped'] },
    ),
    runReaders: gauge('run_readers', 'Requests that wait for a run (poll) or follow one (stream).', {
      kind: ['poll', 'stream'],
    }),
    runChangesListening: gauge(
      'run_changes_listening',
      '1 while PostgreSQL notifies this process of changes of runs; 0 while the process reads awaited runs twice a second instead.',
    ),
    // `retried`: the attempt failed, and another one follows. `failed`: no other attempt follows. `dropped`: the
    // webhook is switched off or has no address, or the project is deleted.
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
    // `refused`: the password, the link or the issuer's answer is wrong, used or too old, or names no active user.
    // `failed`: this service is busy, the issuer is unavailable, or there was an error.
    signIns: counter(
      'sign_ins_total',
      'Attempts to sign in, by method (password, link, oidc) and outcome: done, refused, throttled or failed.',
      { method: ['password', 'link', 'oidc'], outcome: ['done', 'refused', 'throttled', 'failed'] },
    ),
    reconciler: {
      rounds: counter(
        'reconciler_rounds_total',
        'Rounds of the reconciler: done, busy (another process was claiming runs) or failed (no Temporal or no database).',
        { outcome: ['done', 'busy', 'failed'] },
      ),
      lastSuccess: gauge(
        'reconciler_last_success_timestamp_seconds',
        'When this process last ended a round of the reconciler that was done or busy; 0 before the first.',
      ),
      checks: counter(
        'reconciler_runs_checked_total',
        'Open runs compared with Temporal, by the state of their workflow there: open, closed, missing, or failed (no answer).',
        { outcome: ['open', 'closed', 'missing', 'failed'] },
      ),
      startedLate: counter(
        'reconciler_runs_started_total',
        'Accepted runs that the reconciler started, because their start was lost or Temporal did not answer.',
      ),
      closed: counter(
        'reconciler_runs_closed_total',
        'Runs that the reconciler ended, because their workflow could not report an end, by error code.',
        { reason: ['cancelled', 'terminated', 'run_timeout', 'execution_limit', 'execution_lost', 'start_refused'] },
      ),
    },
    retention: {
      rounds: counter(
        'retention_rounds_total',
        'Rounds of retention: done, unfinished (more to do), busy (another process held the lock) or failed.',
        { outcome: ['done', 'unfinished', 'busy', 'failed'] },
      ),
      lastSuccess: gauge(
        'retention_last_success_timestamp_seconds',
        'When this process last ended a round of retention with nothing left to do; 0 before the first.',
      ),
      expired: counter(
        'retention_expired_rows_total',
        'Rows that retention has deleted or emptied, by table. For `runs`: the runs whose results have expired.',
        { table: [] },
      ),
    },
  };
}
