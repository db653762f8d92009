// All processes of a benchmark: a stack for each service, the target, and the twins' processes, which use the first
// stack's Temporal. All run at the same time, so that rounds can alternate; an idle stack uses 1 % of two cores.
import path from 'node:path';
import { BenchChild } from './child.js';
import { closeAll, type Closer } from './close-all.js';
import type { BareStack } from '../harness/stack/stack.js';
import { inheritedEnvironment } from '../harness/stack/supervisor.js';
import { startBenchStack, type StackSettings } from './stack.js';
import { createService, createTwin, type Service, type ServiceName, type Twin } from './subjects.js';

export interface Testbed {
  targetUrl: string;
  /** The services in the order in which they were passed. */
  services: Service[];
  twins: Twin[];
  close: () => Promise<void>;
}

export interface ServiceToStart extends StackSettings {
  name: ServiceName;
}

/** If `targetPort` is 0, the target listens on any free port. */
export async function openTestbed(toStart: readonly ServiceToStart[], targetPort = 0): Promise<Testbed> {
  const closers: Closer[] = [];
  const closing = <T extends { close: Closer }>(opened: T): T => {
    closers.push(() => opened.close());
    return opened;
  };
  try {
    const started: { name: ServiceName; stack: BareStack }[] = [];
    for (const { name, ...settings } of toStart) {
      const stack = await startBenchStack(settings);
      closers.push(() => stack.stop());
      started.push({ name, stack });
    }
    const [{ stack: first }] = started as [(typeof started)[0]];
    const child = (entry: string, args: string[], restarts = false): BenchChild => {
      const logFile = path.join(first.dataDir, `${path.basename(entry, '.js')}-of-bench.log`);
      const process = new BenchChild({ entry, args, env: inheritedEnvironment(), logFile, restarts });
      closers.push(() => process.stop());
      return process;
    };
    const targetUrl = urlOf(await child('../harness/target/target-process.js', [String(targetPort)]).start());
    const services = started.map((service) => closing(createService({ ...service, targetUrl })));
    const twins = (await startTwins(first, targetUrl, child)).map(closing);
    return { targetUrl, services, twins, close: () => closeAll(closers) };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function startTwins(
  stack: BareStack,
  targetUrl: string,
  child: (entry: string, args: string[], restarts?: boolean) => BenchChild,
): Promise<Twin[]> {
  const server = [stack.stack.temporal_address, stack.stack.temporal_namespace];
  const keeping = [...server, 'twin', stack.stack.database_url];
  const worker = child('./twin/worker.js', keeping, true);
  const gateway = child('./twin/gateway.js', keeping);
  const both = child('./twin/eager.js', [...server, 'twin-eager']);
  await worker.start();
  const gatewayUrl = urlOf(await gateway.start());
  const urls = { normal: gatewayUrl, eager: urlOf(await both.start()), keeping: gatewayUrl };
  const { temporal = 0, postgres = 0 } = stack.stack.pids;
  const ofTwo = () => ({ worker: worker.pid, api: gateway.pid, temporal, postgres });
  const pids = {
    normal: ofTwo,
    keeping: ofTwo,
    // The gateway is in the worker's process, whose processor time must not be counted twice.
    eager: () => ({ worker: both.pid, api: 0, temporal, postgres }),
  };
  return (['normal', 'eager', 'keeping'] as const).map((variant) =>
    createTwin({ variant, stack, gatewayUrl: urls[variant], targetUrl, pids: pids[variant] }),
  );
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
