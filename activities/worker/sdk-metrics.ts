// The Temporal SDK's own metrics (schedule-to-start latencies, slots, cache). The SDK serves them on a free port of the
// loopback interface, which is read for each scrape of the worker's `/metrics`.
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import getPort from 'get-port';

const READ_MS = 1_000;
const TRIES = 5;

/** Buckets in seconds. The SDK's defaults (0.1, 0.5, ...) are too coarse to scale workers by. */
const WAITING = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const BUCKETS = { activity_schedule_to_start_latency: WAITING, workflow_task_schedule_to_start_latency: WAITING };

/** Returns an empty string while the SDK does not answer. */
type ReadSdkMetrics = () => Promise<string>;

/** Retries with another port, because another process may take the port before the SDK binds it. */
export async function installRuntime(options: RuntimeOptions): Promise<ReadSdkMetrics> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
    const units = { useSecondsForDurations: true, countersTotalSuffix: true, unitSuffix: true };
    const prometheus = { bindAddress, ...units, histogramBucketOverrides: BUCKETS };
    try {
      Runtime.install({ ...options, telemetryOptions: { metrics: { prometheus, attachServiceName: false } } });
      return () => read(`http://${bindAddress}/metrics`);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function read(url: string): Promise<string> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(READ_MS) })).text();
  } catch {
    return '';
  }
}
