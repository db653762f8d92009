import { setTimeout as pause } from 'node:timers/promises';
import type { Graph } from '../graphs.js';
import { pollIntervalMs, runJob } from '../load.js';
import type { RowContext } from './row-context.js';

/** As many executions of a node as the service wants to see before it places it locally. */
const RUNS = 10;
/** An API process keeps what it knows of speeds for five seconds, and the first run after them still goes by it. */
const KEPT_MS = 6_000;

/** Dense execution goes by what it knows of nodes: it is measured as it runs whatever runs every day. */
export async function learnPlacement({ testbed, report }: RowContext, graphs: readonly Graph[]): Promise<void> {
  const services = testbed.services.filter(({ name }) => name.startsWith('dense'));
  if (services.length === 0) return;
  const runEach = async (times: number): Promise<void> => {
    for (const service of services) {
      for (const graph of graphs) {
        await service.prepare(graph);
        const runs = Array.from({ length: times }, () => runJob(service, graph, pollIntervalMs(times, graph.calls)));
        await Promise.all(runs);
      }
    }
  };
  await runEach(RUNS);
  await pause(KEPT_MS);
  await runEach(1);
  report(`dense: ${RUNS} runs of each graph, by which its nodes are placed`);
}
