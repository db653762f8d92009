// A rolling upgrade of the worker: a new one starts and the old one drains while runs are in flight.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { Fault } from '../fault.js';
import { partsReplaced } from '../parts.js';
import type { HitDescription } from '../stage.js';
import type { World } from '../world.js';

const WORKER = path.resolve(import.meta.dirname, '../../dist/activities/worker/main.js');

interface ExtraWorker {
  /** Sends SIGTERM and returns the exit code. */
  stop: () => Promise<number | null>;
}

const rolling: Fault = {
  name: 'upgrade',
  title: 'a worker upgrade: a new one comes, the old one drains',
  spreadMs: 10_000,
  async apply(stage) {
    const { world } = stage;
    const description: HitDescription = { what: 'the upgrade', cuts: 'nothing', apiDown: false, ends: ['worker'] };
    await stage.hit(description, async () => {
      const extra = await startWorker(world);
      let code: number | null;
      try {
        const pids = { ...world.stack.stack.pids };
        process.kill(pids.worker!, 'SIGTERM');
        await partsReplaced(world, ['worker'], pids);
      } finally {
        code = await extra.stop();
      }
      if (code !== 0) stage.complain(`the second worker ended with code ${code}`);
      const died = await eventually(() => /worker (exited with code \d+|died of \w+)/.exec(lastDeath(world))?.[1]);
      if (died !== 'exited with code 0') stage.complain(`the first worker ${died}`);
    });
  },
};

/** Returns the supervisor's last line about the end of a worker, or an empty text. */
function lastDeath(world: World): string {
  const lines = world.stack.logs().split('\n');
  return lines.findLast((line) => line.includes('; restarting') && line.startsWith('worker ')) ?? '';
}

/** Returns the environment of a second worker for the same stack. */
export function environmentOf({ stack, apiUrl, providersFile, settings }: World): NodeJS.ProcessEnv {
  const { stack: addresses, dataDir } = stack;
  const secrets = readSecrets(dataDir);
  if (secrets === undefined) throw new Error('the stack has no secrets');
  return {
    PATH: process.env['PATH'],
    ALLOW_PRIVATE_NETWORK: 'true',
    ...settings,
    DATA_DIR: dataDir,
    DATABASE_URL: addresses.database_url,
    TEMPORAL_ADDRESS: addresses.temporal_address,
    TEMPORAL_NAMESPACE: addresses.temporal_namespace,
    PUBLIC_URL: apiUrl,
    SECRETS_KEY: secrets.SECRETS_KEY,
    INTERNAL_SERVICE_TOKEN: secrets.INTERNAL_SERVICE_TOKEN,
    MODEL_PROVIDERS_FILE: providersFile,
    WORKER_METRICS_PORT: '0',
  };
}

async function startWorker(world: World): Promise<ExtraWorker> {
  const child = spawn(process.execPath, [WORKER], {
    env: environmentOf(world),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error('the second worker did not start');
  return {
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}

export const upgrades: Fault[] = [rolling];
