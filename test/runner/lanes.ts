// Runs test files in several processes side by side, which are called lanes. All lanes use one shared stack, which is
// started when a lane first requests it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { FileResult, FromLane, SharedStackAt, ToLane } from './messages.js';

export interface TimedResult extends FileResult {
  durationMs: number;
}

export interface LanesOptions {
  jobs: number;
  grep: string | undefined;
  env: Record<string, string>;
  sharedStack: () => Promise<SharedStackAt>;
  onResult: (result: TimedResult) => void;
  /** The longest time that the process of a lane may take to end after its last file. */
  leakAfterMs?: number;
}

/** Files of one group run one after the other, in the same lane. */
export type Group = string[];

const LEAK_AFTER_MS = 60_000;
/**
 * A lane whose process uses more memory is replaced by a new one, because a test that measures the memory of its own
 * process must not include what earlier files left there.
 */
const MAX_LANE_MB = 1_000;
const ROOT = path.resolve(import.meta.dirname, '../..');
const LANE = path.join(import.meta.dirname, 'lane.ts');

export async function runInLanes(groups: Group[], options: LanesOptions): Promise<void> {
  const queue = [...groups];
  const jobs = Math.min(options.jobs, queue.length);
  await Promise.all(Array.from({ length: jobs }, () => runLanes(queue, options)));
}

/** Runs one lane after the other: a lane whose process ends is replaced while files are left. */
async function runLanes(queue: Group[], options: LanesOptions): Promise<void> {
  while (queue.length > 0) {
    // A lane that does not start would not start the next time either.
    if (!(await runLane(queue, options))) queue.length = 0;
  }
}

/** Returns false if the process of the lane ended before it was ready for a file. */
async function runLane(queue: Group[], options: LanesOptions): Promise<boolean> {
  const child = fork(LANE, [], {
    execArgv: ['--import', 'tsx', '--enable-source-maps'],
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const send = (message: ToLane): void => void (child.connected && child.send(message));
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let group: Group = [];
  let running: { file: string; since: number } | undefined;
  let isReady = false;
  function next(rssMb = 0): void {
    if (group.length === 0 && rssMb < MAX_LANE_MB) group = [...(queue.shift() ?? [])];
    const file = group.shift();
    running = file === undefined ? undefined : { file, since: performance.now() };
    if (file === undefined) send({ type: 'end', leakAfterMs: options.leakAfterMs ?? LEAK_AFTER_MS });
    else send({ type: 'run', file: path.resolve(ROOT, file), grep: options.grep });
  }
  child.on('message', (message: FromLane) => {
    if (message.type === 'wants-shared-stack') void lendStack(options, send);
    else if (message.type === 'ready') {
      isReady = true;
      next();
    } else {
      options.onResult({ ...message, file: running!.file, durationMs: performance.now() - running!.since });
      next(message.rssMb);
    }
  });
  const [code, signal] = await exited;
  reportDeath({ code, signal, running, left: group }, options);
  return isReady;
}

async function lendStack(options: LanesOptions, send: (message: ToLane) => void): Promise<void> {
  try {
    send({ type: 'shared-stack', at: await options.sharedStack() });
  } catch (error) {
    send({ type: 'no-shared-stack', reason: String(error) });
  }
}

interface Death {
  code: number | null;
  signal: string | null;
  running: { file: string; since: number } | undefined;
  left: Group;
}

function reportDeath({ code, signal, running, left }: Death, { onResult }: LanesOptions): void {
  if (code === 0 && running === undefined) return;
  const how = `the process of its lane ended with ${signal ?? `exit code ${code}`}`;
  const output = running === undefined ? `before a file or after the last one, ${how}` : `in the middle of it ${how}`;
  const durationMs = running === undefined ? 0 : performance.now() - running.since;
  const counts = { passes: 0, failures: 1, pending: 0, cpuMs: 0, rssMb: 0, durationMs: 0 };
  onResult({ ...counts, file: running?.file ?? '(a lane)', output, durationMs });
  for (const file of left) onResult({ ...counts, file, output: `not run: before it ${how}` });
}
