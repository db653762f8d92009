// All processes of one variant: the stack, the target, the twin's worker and gateway on the same Temporal.
import path from 'node:path';
import { BenchChild } from './child.js';
import type { RecordedCall } from './target.js';
import { createJsonClient } from './http-client.js';
import { inheritedEnvironment, startBenchStack, type BenchStack } from './stack.js';
import { createService, createTwin, type Subject, type SubjectName } from './subjects.js';
import { closeAll, type Closer } from './close-all.js';

export interface Target {
  calls(): Promise<RecordedCall[]>;
  forget(): Promise<void>;
  /** Answers every call that still waits. */
  release(): Promise<void>;
}

export interface Testbed {
  stack: BenchStack;
  target: Target;
  subjects: Record<SubjectName, Subject>;
  close: () => Promise<void>;
}

const TWIN_TASK_QUEUE = 'twin';

/** `env` is the stack's alone: the twin has no settings. */
export async function openTestbed(env: Record<string, string>): Promise<Testbed> {
  const closers: Closer[] = [];
  try {
    const stack = await startBenchStack(env);
    closers.push(() => stack.stop());
    const child = (entry: string, args: string[], restarts = false): BenchChild => {
      const logFile = path.join(stack.dataDir, `${path.basename(entry, '.js')}-of-bench.log`);
      const process = new BenchChild({ entry, args, env: inheritedEnvironment(), logFile, restarts });
      closers.push(() => process.stop());
      return process;
    };
    const address = [stack.file.temporal_address, stack.file.temporal_namespace, TWIN_TASK_QUEUE];
    const targetUrl = urlOf(await child('./target.js', []).start());
    const worker = child('./twin/worker.js', address, true);
    const gateway = child('./twin/gateway.js', address);
    await worker.start();
    const gatewayUrl = urlOf(await gateway.start());
    const { api_url: apiUrl } = stack.file;
    const { temporal = 0, postgres = 0 } = stack.file.pids;
    const servicePids = () => {
      const { worker: ofWorker = 0, api = 0 } = stack.file.pids;
      return { worker: ofWorker, api, temporal, postgres };
    };
    const twinPids = () => ({ worker: worker.pid, api: gateway.pid, temporal, postgres });
    const subjects = {
      service: createService({ apiUrl, apiKey: stack.apiKey, targetUrl, pids: servicePids }),
      'twin-normal': createTwin({ variant: 'normal', gatewayUrl, targetUrl, pids: twinPids }),
      'twin-local': createTwin({ variant: 'local', gatewayUrl, targetUrl, pids: twinPids }),
    };
    for (const subject of Object.values(subjects)) closers.push(() => subject.close());
    const target = createTarget(targetUrl);
    closers.push(() => target.close());
    return { stack, target, subjects, close: () => closeAll(closers) };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

function createTarget(url: string): Target & { close: Closer } {
  const client = createJsonClient(url);
  return {
    calls: async () => (await client.send<RecordedCall[]>('GET', '/-/calls')).body,
    forget: async () => void (await client.send('GET', '/-/forget')),
    release: async () => void (await client.send('GET', '/-/release')),
    close: () => client.close(),
  };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
