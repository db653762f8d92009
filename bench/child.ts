// A measured process that is not the service's: forked from the build, ready when it names its port, gone with us.
import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

interface ChildSettings {
  /** Beside this file. */
  entry: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** A child that dies is started again at once, as a supervisor would. */
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

  /** Resolves with the port that the child says; 0 where it has none. Fails with its log. */
  async start(): Promise<number> {
    const { entry, args = [], env, logFile, restarts = false } = this.#settings;
    const log = openSync(logFile, 'a');
    // The flag with which the service's own processes run.
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
