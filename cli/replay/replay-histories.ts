// Replays recorded runs on a build of the run workflow, to check that it still makes the same decisions.
import { existsSync } from 'node:fs';
import { DefaultLogger, Runtime, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { createPayloadCodec } from '../../config/payload-encryption.js';
import { cutText } from '../../graph/cut-text.js';
import { StartError } from '../embedded/start-error.js';

interface Replayed {
  workflowId: string;
  runId: string;
  /** Why the build cannot continue this run; undefined if it can. */
  problem: string | undefined;
}

/**
 * Yields the result of each history as soon as it is replayed. `bundle` is that of workers without
 * TEMPORAL_PAYLOAD_KEY, also for encrypted histories: `payloadKeys` decrypt their payloads.
 */
export async function* replayHistories(
  histories: AsyncIterable<HistoryAndWorkflowId> | Iterable<HistoryAndWorkflowId>,
  bundle: { codePath: string },
  payloadKeys: readonly Buffer[] = [],
): AsyncGenerator<Replayed> {
  if (!existsSync(bundle.codePath)) throw new StartError('There is no build: run npm run build first.');
  silenceRuntime();
  // The failure converter of `createDataConverter` is left out, because it would encrypt the reason of a problem.
  const dataConverter = { payloadCodecs: [createPayloadCodec(payloadKeys)] };
  const options: ReplayWorkerOptions = { workflowBundle: bundle, dataConverter };
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, histories)) {
    yield { workflowId, runId, problem: error === undefined ? undefined : firstLine(error.message) };
  }
}

let isSilenced = false;

/** The results contain all errors, which the SDK would also log in many lines. */
function silenceRuntime(): void {
  if (isSilenced) return;
  isSilenced = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'OFF' } },
  });
}

function firstLine(message: string): string {
  return cutText(message.split('\n', 1)[0]!, 500);
}
