// What a worker process tells Prometheus. docs/operations.md, "Metrics".
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { nodeDefinitions } from '../../graph/nodes/registry.js';

export interface WorkerMetrics {
  registry: Registry;
  /** Nodes that ended, `succeed` or by their error code. */
  nodes: Counter<'kind' | 'outcome'>;
  /** Tries of nodes, or of an agent's steps. */
  trySeconds: Histogram<'kind' | 'outcome'>;
  costUsd: Counter<'kind'>;
  modelCallSeconds: Histogram<'provider' | 'status'>;
  /** As the providers count them: what they are paid for. */
  modelTokens: Counter<'provider' | 'type'>;
}

/**
 * How a try ended. `retried`: another follows. `cut`: a local try took too long, a normal activity follows.
 * `handed_back`: the worker stops, another one goes on.
 */
export type TryOutcome = 'ended' | 'retried' | 'cut' | 'cancelled' | 'handed_back' | 'internal_error';

/** What a worker has under way, as far as the Temporal SDK knows. */
export interface WorkerLoad {
  numInFlightNonLocalActivities: number;
  numInFlightLocalActivities: number;
  numInFlightWorkflowActivations: number;
  numCachedWorkflows: number;
}

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const metrics: WorkerMetrics = {
    registry,
    nodes: new Counter({
      name: 'nodes_total',
      help: 'Nodes that ended, by kind: succeed, or the code of the error.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    trySeconds: new Histogram({
      name: 'node_try_duration_seconds',
      help: 'Tries of nodes (of an agent: of its steps): ended, retried, cut, cancelled, handed_back or internal_error.',
      labelNames: ['kind', 'outcome'],
      buckets: SECONDS,
      registers,
    }),
    costUsd: new Counter({
      name: 'node_cost_usd_total',
      help: 'USD that nodes were billed when they ended, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    modelCallSeconds: new Histogram({
      name: 'model_call_duration_seconds',
      help: 'Calls of model providers until their answer began, by HTTP status; none: they could not be reached.',
      labelNames: ['provider', 'status'],
      buckets: SECONDS,
      registers,
    }),
    modelTokens: new Counter({
      name: 'model_tokens_total',
      help: 'Tokens that model providers say their answers took, by type: input or output.',
      labelNames: ['provider', 'type'],
      registers,
    }),
  };
  showZeros(metrics.nodes);
  return metrics;
}

/** Of our own failures also the first must show as an increase, which Prometheus sees only in what was there before. */
function showZeros(nodes: WorkerMetrics['nodes']): void {
  for (const kind of Object.keys(nodeDefinitions)) {
    for (const outcome of ['succeed', 'internal_error', 'worker_lost', 'outcome_unknown'])
      nodes.inc({ kind, outcome }, 0);
  }
}

/** `load` is asked at each scrape. */
export function registerWorkerLoad(registry: Registry, slots: number, load: () => WorkerLoad): void {
  const registers = [registry];
  new Gauge({
    name: 'worker_activity_slots',
    help: 'Activities that this worker runs at once at most.',
    registers,
  }).set(slots);
  const gauges: [name: string, help: string, read: (now: WorkerLoad) => number][] = [
    ['worker_activities_in_flight', 'Activities under way.', (now) => now.numInFlightNonLocalActivities],
    ['worker_local_activities_in_flight', 'Local activities under way.', (now) => now.numInFlightLocalActivities],
    ['worker_workflow_tasks_in_flight', 'Workflow tasks under way.', (now) => now.numInFlightWorkflowActivations],
    // The SDK also subtracts runs that it could not begin, such as those of an unknown type, and never added.
    ['worker_cached_workflows', 'Runs that are kept in memory.', (now) => Math.max(0, now.numCachedWorkflows)],
  ];
  for (const [name, help, read] of gauges) {
    const gauge = new Gauge({
      name,
      help,
      registers,
      collect: () => {
        gauge.set(read(load()));
      },
    });
  }
}
