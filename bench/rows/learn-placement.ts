import { setTimeout as pause } from 'node:timers/promises';
import type { Graph } from '../graphs.js';
import { pollIntervalMs, runJob } from '../load.js';
import type { RowContext } from './row-context.js';

/** As many executions of a node as the service wants to see before it places it locally (graph/placement.ts). */
const RUNS = 10;
/** An API process keeps what it knows of speeds for five seconds, and the first run after them still goes by it. */
const KEPT_MS = 6_000;

/** Where the service places nodes itself, it is measured once it has: as it runs whatever runs every day. */
export async function learnPlacement({ variant, testbed, report }: RowContext, graph: Graph): Promise<void> {
  const { service } = testbed.subjects;
  if (variant !== 'quick' || graph.calls === 0) return;
  await service.prepare(graph);
  const intervalMs = pollIntervalMs(RUNS, graph.calls);
  await Promise.all(Array.from({ length: RUNS }, () => runJob(service, graph, intervalMs)));
  await pause(KEPT_MS);
  await runJob(service, graph, intervalMs);
  report(`${graph.name}: ${RUNS} runs before, by which its nodes are placed`);
}
