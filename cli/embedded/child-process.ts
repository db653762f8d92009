// One child of the supervisor: started, watched, restarted when it dies, stopped.
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
  /** Runs before each start, also a restart: clears what an earlier process left. */
  beforeStart?: () => Promise<void>;
  /** Polled until it is true. */
  isReady: () => Promise<boolean>;
  readyTimeoutMs: number;
  /** Asks `isReady` again for as long as the child lives; one that does not answer so many times in a row is killed. */
  liveness?: Liveness;
  stopSignal: NodeJS.Signals;
  /** After this long the child is killed. */
  stopTimeoutMs: number;
  /** Gets every line that is added to the log once the child has been ready. */
  onLine?: (line: string) => void;
  /** After every start, also a restart. */
  onSpawn: () => void;
  onRestart: (reason: string) => void;
}

export interface Liveness {
  everyMs: number;
  /** For one answer. */
  timeoutMs: number;
  failures: number;
}

/** The first restart is immediate; a child that keeps dying is given more and more time, up to the last value. */
const RESTART_DELAYS_MS = [50, 500, 1_000, 2_000, 5_000];
/** A child that lived this long has recovered: its next death counts as the first. */
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

  /** Undefined between a death and the restart. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Resolves once the child is ready; StartError with the end of its log when it dies or is late. */
  async start(): Promise<void> {
    rotateLog(this.options.logFile);
    await this.#spawn();
    const { name, isReady, readyTimeoutMs, logFile } = this.options;
    const deadline = Date.now() + readyTimeoutMs;
    let death: string | undefined;
    void this.#exited.then((reason) => (death = reason));
    while (!(await isReady().catch(() => false))) {
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
    // What came before is shown only where the start fails, as the end of the log.
    if (onLine !== undefined) this.#stopFollowing = followLog(logFile, onLine);
  }

  /** Asks the child to stop, kills it when it takes too long, and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    const child = this.#process;
    if (child === undefined) return this.#stopFollowing();
    child.kill(this.options.stopSignal);
    const killer = setTimeout(() => child.kill('SIGKILL'), this.options.stopTimeoutMs);
    await this.#exited;
    clearTimeout(killer);
    this.#stopFollowing();
  }

  /** Without grace, for a second Ctrl-C. */
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

  /** Failures are counted, not timed: a supervisor that stood still itself knows nothing of the time in between. */
  async #askAgain({ everyMs, timeoutMs, failures }: Liveness): Promise<void> {
    const { signal } = this.#stopping;
    let [asked, failed]: [number | undefined, number] = [undefined, 0];
    for (;;) {
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const { pid } = this;
      const isAnswering = await Promise.race([this.options.isReady().catch(() => false), pause(timeoutMs, false)]);
      failed = isAnswering || pid !== asked ? 0 : failed + 1;
      asked = pid;
      if (failed < failures || pid === undefined || pid !== this.pid || signal.aborted) continue;
      failed = 0;
      this.options.onRestart(`${this.name} does not answer any more and is killed`);
      this.#process?.kill('SIGKILL');
    }
  }

  async #spawn(): Promise<void> {
    const { command, logFile, beforeStart, onSpawn } = this.options;
    await beforeStart?.();
    if (this.#stopping.signal.aborted) return;
    // A file, not a pipe: a child must not choke on its output when the supervisor is killed.
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(command.file, command.args, {
      env: command.env,
      stdio: ['ignore', log, log],
      // Its own process group: Ctrl-C reaches the supervisor alone, which stops the children in order.
      detached: true,
      ...(command.uid === undefined ? {} : { uid: command.uid }),
      ...(command.gid === undefined ? {} : { gid: command.gid }),
    });
    closeSync(log);
    this.#process = child;
    this.#exited = new Promise((resolve) => {
      const settle = (reason: string): void => {
        this.#process = undefined;
        resolve(reason);
      };
      child.once('error', (error) => settle(`could not be started (${error.message})`));
      child.once('exit', (code, signal) => settle(signal === null ? `exited with code ${code}` : `died of ${signal}`));
    });
    onSpawn();
  }
}
