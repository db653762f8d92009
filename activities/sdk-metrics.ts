// The Temporal SDK's own metrics (schedule-to-start latencies, slots, cache), which its native part serves on a port of
// its own: a free one of the loopback interface, read for each scrape of the worker's `/metrics`.
import { createServer, type AddressInfo } from 'node:net';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';

const READ_MS = 1_000;
const TRIES = 5;

/** Empty while the SDK does not answer. */
export type ReadSdkMetrics = () => Promise<string>;

/** The port may be taken by another process between finding and using it: then by the next one. */
export async function installRuntime(options: RuntimeOptions): Promise<ReadSdkMetrics> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `127.0.0.1:${await findFreePort()}`;
    const prometheus = { bindAddress, useSecondsForDurations: true, countersTotalSuffix: true, unitSuffix: true };
    try {
      Runtime.install({ ...options, telemetryOptions: { metrics: { prometheus } } });
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
