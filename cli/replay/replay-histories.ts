// Recorded runs against a build of the run workflow: does it still decide what it decided then?
import { existsSync } from 'node:fs';
import { DefaultLogger, Runtime, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { StartError } from '../embedded/start-error.js';

export interface Replayed {
  workflowId: string;
  runId: string;
  /** Why the build cannot go on with this run; undefined when it can. */
  problem: string | undefined;
}

/** One answer a history, as they come. `bundle` is the one that workers of the build load. */
export async function* replayHistories(
  histories: AsyncIterable<HistoryAndWorkflowId> | Iterable<HistoryAndWorkflowId>,
  bundle: { codePath: string },
): AsyncGenerator<Replayed> {
  if (!existsSync(bundle.codePath)) throw new StartError('There is no build: run npm run build first.');
  silenceRuntime();
  const options: ReplayWorkerOptions = { workflowBundle: bundle };
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, histories)) {
    yield { workflowId, runId, problem: error === undefined ? undefined : firstLine(error.message) };
  }
}

let isSilenced = false;

/** Whatever goes wrong is in the answers; the SDK would log it as well, in many lines. */
function silenceRuntime(): void {
  if (isSilenced) return;
  isSilenced = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'OFF' } },
  });
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.slice(0, 500);
}
