// Wakes runs by a signal that a node's wait may be over. The reconciler repeats signals that were not confirmed.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from '../telemetry/logger.js';
import { inSpan, SpanKind } from '../telemetry/spans.js';
import { WAKE_SIGNAL, type Wake } from '../contract/run-workflow.js';
import type { Db } from '../db/core/client.js';
import type { WaitKey } from '../db/waits/wait-key.js';
import { markWoken } from '../db/waits/wakes-repository.js';
import { bounded } from './bounded-call.js';

interface WakeDeps {
  db: Db;
  temporal: Client;
  logger: Logger;
}

/** Sends the signal and never throws. If the process dies first, the reconciler sends it (`redeliverSignals`). */
export async function deliverWake({ db, temporal, logger }: WakeDeps, wait: WaitKey): Promise<void> {
  try {
    await signalWake(temporal, wait.runId, { path: wait.path, nodeId: wait.nodeId });
    await markWoken(db, wait);
  } catch (error) {
    logger.warn({ err: error, run_id: wait.runId }, 'a run was not woken yet; the signal will be sent again');
  }
}

/** The limit on signals that one caller sends; the reconciler sends the others. */
const WOKEN_AT_ONCE = 100;

/** Wakes nodes that waited for the same event. Never throws. */
export async function deliverWakes(deps: WakeDeps, waits: readonly WaitKey[]): Promise<void> {
  await Promise.all(waits.slice(0, WOKEN_AT_ONCE).map((wait) => deliverWake(deps, wait)));
}

/** Ignores a run that Temporal doesn't know: it has ended and needs no wake. */
async function signalWake(client: Client, runId: string, wake: Wake): Promise<void> {
  const signal = () => client.workflow.getHandle(runId).signal<[Wake]>(WAKE_SIGNAL, wake);
  try {
    const attributes = { 'run.id': runId };
    await inSpan('temporal signal', { kind: SpanKind.CLIENT, attributes }, () => bounded(client, signal));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
