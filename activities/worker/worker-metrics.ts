// The metrics that a worker process exports to Prometheus. docs/operate/operations.md, "Metrics", describes them.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import type { SlotsLoad } from './project-slots.js';

export interface WorkerMetrics {
  registry: Registry;
  /** Counts ended nodes by outcome: `succeed` or their error code. */
  nodes: Counter<'kind' | 'outcome'>;
  /** Measures the attempts of nodes, or of an agent's steps. */
  attemptSeconds: Histogram<'kind' | 'outcome'>;
  costUsd: Counter<'kind'>;
  modelCallSeconds: Histogram<'provider' | 'status'>;
  /** Counts tokens as the providers do for billing. */
  modelTokens: Counter<'provider' | 'type'>;
  /** Counts the runs whose end this process has written, by stored status. */
  runsEnded: Counter<'status'>;
  /** Counts activities that went back to Temporal's queue because their project held its share of the slots. */
  handedBack: Counter;
}

/** A worker's load, as reported by the Temporal SDK and the slots of projects. */
interface WorkerLoad extends SlotsLoad {
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
    attemptSeconds: new Histogram({
      name: 'node_attempt_duration_seconds',
      help: 'Attempts of nodes (of an agent: of its steps): ended, retried, cancelled, handed_back or internal_error.',
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
    runsEnded: new Counter({
      name: 'runs_ended_total',
      help: 'Runs whose end this process has written, by stored status.',
      labelNames: ['status'],
      registers,
    }),
    handedBack: new Counter({
      name: 'worker_activities_handed_back_total',
      help: 'Activities that went back to the queue because their project held its share of the slots.',
      registers,
    }),
  };
  showZeros(metrics);
  return metrics;
}

/** Creates the counters with 0, because Prometheus detects the first increase only if the series existed before. */
function showZeros({ nodes, runsEnded }: WorkerMetrics): void {
  for (const status of ['Succeeded', 'Error', 'Cancelled']) runsEnded.inc({ status }, 0);
  for (const kind of Object.keys(nodeDefinitions)) {
    for (const outcome of ['succeed', 'internal_error', 'worker_lost', 'outcome_unknown'])
      nodes.inc({ kind, outcome }, 0);
  }
}

interface SlotSettings {
  activitySlots: number;
  projectSlots: number;
}

/** `load` is called at each scrape. */
export function registerWorkerLoad(
  registry: Registry,
  { activitySlots, projectSlots }: SlotSettings,
  load: () => WorkerLoad,
): void {
  const registers = [registry];
  const limits: [name: string, help: string, value: number][] = [
    ['worker_activity_slots', 'Activities that this worker runs at once at most.', activitySlots],
    ['worker_project_slots', 'Of these, those of one project while no other has any.', projectSlots],
  ];
  for (const [name, help, value] of limits) new Gauge({ name, help, registers }).set(value);
  const gauges: [name: string, help: string, read: (now: WorkerLoad) => number][] = [
    [
      'worker_activities_in_flight',
      'Activities under way, without those that wait for a slot of their project.',
      (now) => now.numInFlightNonLocalActivities - now.waitingActivities,
    ],
    ['worker_activities_waiting', 'Activities that wait for a slot of their project.', (now) => now.waitingActivities],
    ['worker_largest_project_slots', 'Slots of the project that holds the most.', (now) => now.largestShare],
    ['worker_local_activities_in_flight', 'Local activities under way.', (now) => now.numInFlightLocalActivities],
    ['worker_workflow_tasks_in_flight', 'Workflow tasks under way.', (now) => now.numInFlightWorkflowActivations],
    // The SDK also subtracts runs that it could not begin and therefore never added, such as those of an unknown type.
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
