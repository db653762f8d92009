import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  /** Labelled by the route's pattern, never by a path: ids would make a series each. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
  /** `delivered`, `retried` (failed, another attempt follows), `failed` (given up), `dropped` (nowhere to send it to). */
  webhookAttempts: Counter<'outcome'>;
  webhookAttemptSeconds: Histogram;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const webhookAttempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver a webhook event, by what became of the event.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const webhookAttemptSeconds = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time until the receiver of a webhook answered, or was given up on.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  });
  return { registry, requestSeconds, webhookAttempts, webhookAttemptSeconds };
}
