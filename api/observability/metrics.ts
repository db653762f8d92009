// The Prometheus metrics of this process; database-metrics.ts has those of the database. docs/operate/operations.md,
// "Metrics".
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  /** The label is the route's pattern, never a path: ids would create a series each. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
  /** `accepted`, `repeated` (by `Idempotency-Key`), `invalid_nodes` (inner 422), `invalid_workflow` (inner 400). */
  runsAccepted: Counter<'outcome'>;
  /** Labelled by the stored status. */
  runsEnded: Counter<'status'>;
  /**
   * The outcome of a poll's query to a run workflow: `answered`, `refused` (the run is not open), `timed_out`,
   * `skipped` (not sent).
   */
  runQueries: Counter<'outcome'>;
  /** The number of those who wait for runs: `poll` (`Prefer: wait`) or `stream`. */
  runReaders: Gauge<'kind'>;
  /** 1 while changes of runs are told to this process. */
  runChangesListening: Gauge;
  /** `delivered`, `retried` (failed, another attempt follows), `failed` (no attempts left), `dropped` (no receiver). */
  webhookAttempts: Counter<'outcome'>;
  webhookAttemptSeconds: Histogram;
  /** `done`, `refused` (wrong, used or too old), `throttled`, `failed` (busy, the issuer is away, or our fault). */
  signIns: Counter<'method' | 'outcome'>;
  reconciler: ReconcilerMetrics;
  retention: RetentionMetrics;
}

interface ReconcilerMetrics {
  rounds: Counter<'outcome'>;
  lastSuccess: Gauge;
  checks: Counter<'outcome'>;
  startedLate: Counter;
  /** Labelled by the run's error code. */
  closed: Counter<'reason'>;
}

interface RetentionMetrics {
  rounds: Counter<'outcome'>;
  lastSuccess: Gauge;
  expired: Counter<'table'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const metrics: Metrics = {
    registry,
    requestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    runsAccepted: new Counter({
      name: 'run_requests_total',
      help: 'Requests to run a workflow, by outcome: accepted, repeated, invalid_nodes or invalid_workflow.',
      labelNames: ['outcome'],
      registers,
    }),
    runsEnded: new Counter({
      name: 'runs_ended_total',
      help: 'Runs whose end this process has written, by stored status.',
      labelNames: ['status'],
      registers,
    }),
    runQueries: new Counter({
      name: 'run_queries_total',
      help: 'Queries to run workflows for polls: answered, refused (run not open), timed_out (by workers) or skipped.',
      labelNames: ['outcome'],
      registers,
    }),
    runReaders: new Gauge({
      name: 'run_readers',
      help: 'Requests that wait for a run (poll) or follow one (stream).',
      labelNames: ['kind'],
      registers,
    }),
    runChangesListening: new Gauge({
      name: 'run_changes_listening',
      help: 'Whether PostgreSQL tells this process of changes of runs: 1, or 0 while it compares them twice a second.',
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'webhook_attempts_total',
      help: 'Attempts to deliver a webhook event, by what became of the event.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookAttemptSeconds: new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'Time until the receiver of a webhook answered, or was given up on.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    }),
    signIns: new Counter({
      name: 'sign_ins_total',
      help: 'Attempts to sign in, by method (password, link, oidc) and outcome: done, refused, throttled or failed.',
      labelNames: ['method', 'outcome'],
      registers,
    }),
    reconciler: createReconcilerMetrics(registers),
    retention: createRetentionMetrics(registers),
  };
  showZeros(metrics);
  return metrics;
}

/** Creates every series with 0: Prometheus sees no increase in a series that begins with its first event. */
function showZeros({
  runsAccepted,
  runsEnded,
  runQueries,
  runReaders,
  webhookAttempts,
  signIns,
  reconciler,
  retention,
}: Metrics): void {
  for (const outcome of ['accepted', 'repeated', 'invalid_nodes', 'invalid_workflow']) runsAccepted.inc({ outcome }, 0);
  for (const status of ['Succeeded', 'Error', 'Cancelled']) runsEnded.inc({ status }, 0);
  for (const outcome of ['answered', 'refused', 'timed_out', 'skipped']) runQueries.inc({ outcome }, 0);
  for (const kind of ['poll', 'stream']) runReaders.set({ kind }, 0);
  for (const outcome of ['delivered', 'retried', 'failed', 'dropped']) webhookAttempts.inc({ outcome }, 0);
  for (const method of ['password', 'link', 'oidc']) {
    for (const outcome of ['done', 'refused', 'throttled', 'failed']) signIns.inc({ method, outcome }, 0);
  }
  for (const outcome of ['done', 'busy', 'failed']) reconciler.rounds.inc({ outcome }, 0);
  for (const outcome of ['open', 'closed', 'missing', 'failed']) reconciler.checks.inc({ outcome }, 0);
  for (const reason of CLOSED_FOR) reconciler.closed.inc({ reason }, 0);
  for (const outcome of ['done', 'unfinished', 'busy', 'failed']) retention.rounds.inc({ outcome }, 0);
}

const CLOSED_FOR = ['cancelled', 'terminated', 'run_timeout', 'execution_limit', 'execution_lost', 'start_refused'];

function createReconcilerMetrics(registers: Registry[]): ReconcilerMetrics {
  return {
    rounds: new Counter({
      name: 'reconciler_rounds_total',
      help: 'Rounds of the reconciler: done, busy (another process was claiming) or failed (Temporal or database away).',
      labelNames: ['outcome'],
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'reconciler_last_success_timestamp_seconds',
      help: 'When this process last ended a round of the reconciler; 0 before the first.',
      registers,
    }),
    checks: new Counter({
      name: 'reconciler_runs_checked_total',
      help: 'Open runs compared with Temporal, by what was found: open, closed, missing, or failed (no answer).',
      labelNames: ['outcome'],
      registers,
    }),
    startedLate: new Counter({
      name: 'reconciler_runs_started_total',
      help: 'Accepted runs that the reconciler started, because their start was lost or Temporal was away.',
      registers,
    }),
    closed: new Counter({
      name: 'reconciler_runs_closed_total',
      help: 'Runs that the reconciler closed because nobody else could, by the error code that they got.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

function createRetentionMetrics(registers: Registry[]): RetentionMetrics {
  return {
    rounds: new Counter({
      name: 'retention_rounds_total',
      help: 'Rounds of retention: done, unfinished (more to do), busy (another process was at it) or failed.',
      labelNames: ['outcome'],
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'retention_last_success_timestamp_seconds',
      help: 'When this process last ended a round of retention with nothing left to do; 0 before the first.',
      registers,
    }),
    expired: new Counter({
      name: 'retention_expired_rows_total',
      help: 'Rows that were deleted or emptied, by table; of runs, those whose results expired.',
      labelNames: ['table'],
      registers,
    }),
  };
}
