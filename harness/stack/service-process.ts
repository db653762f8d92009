// Starts another process of the service beside those of the stack. The process reports the port that it listens on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { readSecrets, type StackSecrets } from '../../cli/embedded/secrets-file.js';
import type { TestStack } from './stack.js';

export interface ServiceProcess {
  url: string;
  pid: number;
  /** The log so far, as JSON lines. */
  output: () => string;
  /** Sends SIGTERM. Returns the exit code. */
  stop: () => Promise<number | null>;
}

export function secretsOf(stack: TestStack): StackSecrets {
  const secrets = readSecrets(stack.dataDir);
  if (secrets === undefined) throw new Error('the stack has no secrets');
  return secrets;
}

/** `logsFolder`: a folder to which the process's output is appended as well, in a file of its own. */
export async function startServiceProcess(
  entry: string,
  env: Record<string, string>,
  logsFolder?: string,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (logsFolder !== undefined && existsSync(logsFolder))
        appendFileSync(path.join(logsFolder, `${child.pid}.log`), chunk);
    });
  }
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error(`${entry} did not start: ${text}`);
  const { port } = first[0] as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    output: () => text,
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
