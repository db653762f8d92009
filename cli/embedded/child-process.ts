// A child process of the supervisor: started, monitored, restarted after a crash, and stopped.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { followLog, rotateLog, tailLog } from './child-log.js';
import { StartError } from './start-error.js';

export interface Command {
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
}

export interface ChildOptions {
  name: string;
  command: Command;
  logFile: string;
  /** Runs before each start and restart, and cleans up after an earlier process. */
  beforeStart?: () => Promise<void>;
  /** Polled until it returns true. */
  isReady: () => Promise<boolean>;
  readyTimeoutMs: number;
  /** If present, `isReady` is repeated while the child lives. `failures` failures in a row kill the child. */
  liveness?: Liveness;
  stopSignal: NodeJS.Signals;
  stopTimeoutMs: number;
  /** Receives every new line of the log after the child is ready. */
  onLine?: (line: string) => void;
  /** Called after every start and restart. */
  onSpawn: () => void;
  onRestart: (reason: string) => void;
}

interface Liveness {
  everyMs: number;
  timeoutMs: number;
  failures: number;
}

/** The first restart is immediate; later ones wait longer, up to the last value. */
const RESTART_DELAYS_MS = [50, 500, 1_000, 2_000, 5_000];
/** A child that lived this long has recovered: the next crash counts as the first. */
const RECOVERED_AFTER_MS = 30_000;

export class ChildSupervisor {
  readonly options: ChildOptions;
  #process: ChildProcess | undefined;
  #exited: Promise<string> = Promise.resolve('not started');
  #stopping = new AbortController();
  #watching: Promise<void> | undefined;
  #stopFollowing: () => void = () => undefined;

  constructor(options: ChildOptions) {
    this.options = options;
  }

  get name(): string {
    return this.options.name;
  }

  /** Undefined while no process runs, also between a crash and the restart. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Resolves once the child is ready. Throws StartError if it dies, exceeds the time limit or is stopped before. */
  async start(): Promise<void> {
    rotateLog(this.options.logFile);
    await this.#spawn();
    const { name, readyTimeoutMs, logFile } = this.options;
    const deadline = Date.now() + readyTimeoutMs;
    let death: string | undefined;
    void this.#exited.then((reason) => (death = reason));
    while (!(await this.#answers(deadline - Date.now()))) {
      if (this.#stopping.signal.aborted) throw new StartError(`${name} was stopped before it was ready.`);
      if (death !== undefined) throw new StartError(`${name} ${death} before it was ready.\n${tailLog(logFile)}`);
      if (Date.now() > deadline) {
        throw new StartError(`${name} was not ready after ${readyTimeoutMs / 1000} s.\n${tailLog(logFile)}`);
      }
      await pause(25);
    }
    this.#watching = this.#watch();
    if (this.options.liveness !== undefined) void this.#askAgain(this.options.liveness);
    const { onLine } = this.options;
    // Earlier lines are shown only if the start fails, as the end of the log.
    if (onLine !== undefined) this.#stopFollowing = followLog(logFile, onLine);
  }

  /** Stops the child, kills it after the time limit, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    const child = this.#process;
    if (child === undefined) return this.#endFollowing();
    child.kill(this.options.stopSignal);
    const killer = setTimeout(() => child.kill('SIGKILL'), this.options.stopTimeoutMs);
    await this.#exited;
    clearTimeout(killer);
    this.#endFollowing();
  }

  /** If the start of the stack fails, a ready child is stopped twice, and its log is closed already the second time. */
  #endFollowing(): void {
    const stopFollowing = this.#stopFollowing;
    this.#stopFollowing = () => undefined;
    stopFollowing();
  }

  /** Kills the child at once, for a second Ctrl-C. */
  kill(): void {
    this.#stopping.abort();
    this.#process?.kill('SIGKILL');
  }

  async #watch(): Promise<void> {
    let deaths = 0;
    const stopped = new Promise<undefined>((resolve) => {
      this.#stopping.signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    for (;;) {
      const startedAt = Date.now();
      const reason = await Promise.race([this.#exited, stopped]);
      if (reason === undefined || this.#stopping.signal.aborted) return;
      deaths = Date.now() - startedAt > RECOVERED_AFTER_MS ? 0 : deaths;
      const delayMs = RESTART_DELAYS_MS[Math.min(deaths, RESTART_DELAYS_MS.length - 1)]!;
      deaths += 1;
      this.options.onRestart(`${this.name} ${reason}; restarting${delayMs < 100 ? '' : ` in ${delayMs / 1000} s`}`);
      await pause(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      if (this.#stopping.signal.aborted) return;
      await this.#spawn().catch((error: unknown) => {
        this.#exited = Promise.resolve(
          `could not be started (${error instanceof Error ? error.message : String(error)})`,
        );
      });
    }
  }

  /** Counts failures instead of measuring time, because time also passes while the supervisor itself is suspended. */
  async #askAgain({ everyMs, timeoutMs, failures }: Liveness): Promise<void> {
    const { signal } = this.#stopping;
    let [asked, failed]: [number | undefined, number] = [undefined, 0];
    for (;;) {
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const { pid } = this;
      const isAnswering = await this.#answers(timeoutMs);
      failed = isAnswering || pid !== asked ? 0 : failed + 1;
      asked = pid;
      if (failed < failures || pid === undefined || pid !== this.pid || signal.aborted) continue;
      failed = 0;
      this.options.onRestart(`${this.name} does not answer any more and is killed`);
      this.#process?.kill('SIGKILL');
      // Wait for the exit, so that a process that dies slowly is not reported twice.
      await this.#exited;
    }
  }

  /** Returns false if the child is not ready, dies or has not answered within the time. */
  async #answers(timeoutMs: number): Promise<boolean> {
    const timer = new AbortController();
    try {
      return await Promise.race([
        this.options.isReady().catch(() => false),
        this.#exited.then(() => false),
        pause(timeoutMs, false, { signal: timer.signal }),
      ]);
    } finally {
      timer.abort();
    }
  }

  async #spawn(): Promise<void> {
    const { command, logFile, beforeStart, onSpawn } = this.options;
    await beforeStart?.();
    if (this.#stopping.signal.aborted) return;
    // Log to a file: with a pipe, the child's writes would fail after the supervisor is killed, and block while the
    // supervisor is suspended.
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(command.file, command.args, {
      env: command.env,
      stdio: ['ignore', log, log],
      // A separate process group, so that Ctrl-C reaches only the supervisor, which stops the children in order.
      detached: true,
      ...(command.uid === undefined ? {} : { uid: command.uid }),
      ...(command.gid === undefined ? {} : { gid: command.gid }),
    });
    closeSync(log);
    this.#process = child;
    this.#exited = new Promise((resolve) => {
      const exitedWith = (reason: string): void => {
        this.#process = undefined;
        resolve(reason);
      };
      child.once('error', (error) => exitedWith(`could not be started (${error.message})`));
      child.once('exit', (code, signal) =>
        exitedWith(signal === null ? `exited with code ${code}` : `died of ${signal}`),
      );
    });
    onSpawn();
  }
}
