// The Temporal SDK's own metrics (schedule-to-start latencies, slots, cache), which its native part serves on a port of
// its own: a free one of the loopback interface, read for each scrape of the worker's `/metrics`.
import { createServer, type AddressInfo } from 'node:net';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';

const READ_MS = 1_000;
const TRIES = 5;

/** Seconds. The SDK's own begin at 0.1 and go on with 0.5: nothing to scale workers by. */
const WAITING = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const BUCKETS = { activity_schedule_to_start_latency: WAITING, workflow_task_schedule_to_start_latency: WAITING };

/** Empty while the SDK does not answer. */
export type ReadSdkMetrics = () => Promise<string>;

/** The port may be taken by another process between finding and using it: then by the next one. */
export async function installRuntime(options: RuntimeOptions): Promise<ReadSdkMetrics> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `127.0.0.1:${await findFreePort()}`;
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

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
