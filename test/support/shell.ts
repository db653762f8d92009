// Starts other programs with the environment that a person's shell has.
import { spawn } from 'node:child_process';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ShellOptions {
  cwd: string;
  /** The environment, in place of this process's own. */
  env?: NodeJS.ProcessEnv;
  timeoutMs?: number;
}

/** Resolves with any exit code. Rejects if the program does not exist. */
export function execute(command: string, args: string[], options: ShellOptions): Promise<Finished> {
  const { cwd, env = personsEnvironment(), timeoutMs = 120_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Returns the standard output of a program that must succeed. */
export async function mustRun(command: string, args: string[], options: ShellOptions): Promise<string> {
  const { code, stdout, stderr } = await execute(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}

/**
 * This process's environment without the variables that `npm test` adds: another npm would take them for its own
 * package.
 */
export function personsEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const ofScripts = /^npm_(?:package|lifecycle|config_local_prefix|command|execpath|node_execpath)/;
  const kept = Object.entries(process.env).filter(([name]) => !ofScripts.test(name) && name !== 'NODE_ENV');
  return { ...Object.fromEntries(kept), ...more };
}
