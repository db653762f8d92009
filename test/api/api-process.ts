// One more API process beside the stack's, on the stack's database and with its secrets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import type { TestStack } from '../support/stack.js';

export interface ApiProcess {
  apiUrl: string;
  /** JSON lines. */
  output: () => string;
  /** SIGTERM; answers the exit code. */
  stop: () => Promise<number | null>;
}

export async function startApiProcess(stack: TestStack, env: Record<string, string> = {}): Promise<ApiProcess> {
  const { database_url: databaseUrl, temporal_address: temporalAddress } = stack.stack;
  const secrets = readSecrets(stack.dataDir);
  if (secrets === undefined) throw new Error('the stack has no secrets');
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, '../../dist/api/main.js')], {
    env: {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      SECRETS_KEY: secrets.SECRETS_KEY,
      INTERNAL_SERVICE_TOKEN: secrets.INTERNAL_SERVICE_TOKEN,
      JWT_SECRET: secrets.JWT_SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error(`the API did not start: ${text}`);
  const { port } = first[0] as { port: number };
  return {
    apiUrl: `http://127.0.0.1:${port}`,
    output: () => text,
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
