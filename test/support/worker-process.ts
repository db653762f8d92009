// One more worker process beside the stack's, on the stack's servers and with its secrets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { modelProvidersFile, type TestStack } from './stack.js';

export interface WorkerProcess {
  /** Of its health server. */
  url: string;
  /** JSON lines. */
  output: () => string;
  /** SIGTERM; answers the exit code. */
  stop: () => Promise<number | null>;
}

export interface WorkerOptions {
  env?: Record<string, string>;
  /** The folder of the build; this checkout's by default. */
  dist?: string;
}

export const DIST = path.resolve(import.meta.dirname, '../../dist');

export async function startWorkerProcess(stack: TestStack, options: WorkerOptions = {}): Promise<WorkerProcess> {
  const secrets = readSecrets(stack.dataDir);
  if (secrets === undefined) throw new Error('the stack has no secrets');
  const { database_url: databaseUrl, temporal_address: temporalAddress, api_url: apiUrl } = stack.stack;
  const child = spawn(process.execPath, [path.join(options.dist ?? DIST, 'activities/main.js')], {
    env: {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      API_INTERNAL_URL: apiUrl,
      SECRETS_KEY: secrets.SECRETS_KEY,
      INTERNAL_SERVICE_TOKEN: secrets.INTERNAL_SERVICE_TOKEN,
      MODEL_PROVIDERS_FILE: modelProvidersFile(stack.dataDir),
      ALLOW_PRIVATE_NETWORK: 'true',
      WORKER_METRICS_PORT: '0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error(`the worker did not start: ${text}`);
  const { port } = first[0] as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => text,
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
