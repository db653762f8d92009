// A process of a benchmark that is not part of the service: the target, or one of the twins. It is forked from the
// build, is ready when it sends its first message (with its port, if it has one), and ends together with the benchmark.
import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

interface ChildSettings {
  /** Relative to this file. */
  entry: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** Restarts the child at once if it dies after it was ready, like a supervisor. */
  restarts?: boolean;
}

export class BenchChild {
  readonly #settings: ChildSettings;
  #process: ChildProcess | undefined;
  #isStopping = false;

  constructor(settings: ChildSettings) {
    this.#settings = settings;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error(`${this.#settings.entry} does not run`);
    return pid;
  }

  /**
   * Returns the port that the child sends, or 0 if it has none. Throws an error with its log if the child exits first.
   */
  async start(): Promise<number> {
    const { entry, args = [], env, logFile, restarts = false } = this.#settings;
    const log = openSync(logFile, 'a');
    // The service's processes run with the same flag.
    const execArgv = ['--enable-source-maps'];
    const stdio = ['ignore', log, log, 'ipc'] as const;
    const file = fileURLToPath(new URL(entry, import.meta.url));
    const child = fork(file, args, { env, execArgv, stdio: [...stdio] });
    closeSync(log);
    this.#process = child;
    let isReady = false;
    return new Promise((resolve, reject) => {
      child.once('message', (message: { port?: number }) => {
        isReady = true;
        resolve(message.port ?? 0);
      });
      child.once('exit', (code) => {
        reject(new Error(`${entry} ended with code ${code}:\n${readFileSync(logFile, 'utf8').slice(-4_000)}`));
        if (restarts && isReady && !this.#isStopping) this.start().catch(console.error);
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await exited;
    clearTimeout(killer);
  }
}
