// The metrics that a worker process exports to Prometheus (docs/operate/operations.md, "Metrics").
import { Gauge, type Registry } from 'prom-client';
import { createMetricSet } from '../../telemetry/metric-set.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import type { SlotsLoad } from './project-slots.js';

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** The load of a worker, as the Temporal SDK and the slots of projects report it. */
interface WorkerLoad extends SlotsLoad {
  numInFlightNonLocalActivities: number;
  numInFlightLocalActivities: number;
  numInFlightWorkflowActivations: number;
  numCachedWorkflows: number;
}

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createWorkerMetrics() {
  const { registry, counter, histogram } = createMetricSet();
  return {
    registry,
    nodes: counter('nodes_total', 'Nodes that ended, by kind and outcome: succeed, or the code of the error.', {
      kind: Object.keys(nodeDefinitions),
      outcome: ['succeed', 'internal_error', 'worker_lost', 'outcome_unknown'],
    }),
    attemptSeconds: histogram(
      'node_attempt_duration_seconds',
      'Attempts of nodes (of an agent: of its steps): ended, retried, cancelled, handed_back, waits or internal_error.',
      { labelNames: ['kind', 'outcome'], buckets: SECONDS },
    ),
    costUsd: counter('node_cost_usd_total', 'USD that nodes were billed when they ended, by kind.', { kind: [] }),
    modelCallSeconds: histogram(
      'model_call_duration_seconds',
      'Calls of model providers until their answer began, by HTTP status; none: no answer began.',
      { labelNames: ['provider', 'status'], buckets: SECONDS },
    ),
    // Adds up the usage that answers report. A missing or invalid count adds 0.
    modelTokens: counter(
      'model_tokens_total',
      'Tokens that model providers say their answers took, by type: input or output.',
      { provider: [], type: [] },
    ),
    runsEnded: counter('runs_ended_total', 'Runs whose end this process has written, by stored status.', {
      status: ['Succeeded', 'Error', 'Cancelled'],
    }),
    handedBack: counter(
      'worker_activities_handed_back_total',
      'Activities that went back to the queue because their project held its share of the slots.',
    ),
  };
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
    [
      'worker_project_slots',
      'Slots of this worker that one project may hold while no other project holds any.',
      projectSlots,
    ],
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
    // Never negative: the SDK also subtracts runs that it could not start and therefore never added,
    // such as those of an unknown type.
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
