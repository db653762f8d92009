// One sandbox process, as the worker sees it. Nothing that comes from it is trusted: a program may have taken it over.
import { spawn, type ChildProcess } from 'node:child_process';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { lowerPriority } from '../../../processes/lower-priority.js';
import {
  LIFELINE_FD,
  MAX_LOG_BYTES,
  MAX_OUTPUT_BYTES,
  PROGRAMS_FD,
  REPLIES_FD,
  toFrame,
  type Program,
  type Reply,
} from './child/messages.js';
import { createFrameReader } from './child/frame-reader.js';
import { processFlags } from './process-flags.js';

/** A process that starts on a busy machine. */
const START_WITHIN_MS = 30_000;
/** After its time is up, a program has so much longer to stop by itself, and its process to say so. */
const GRACE_MS = 1_000;
/** Two bytes for each byte of the output, at most six for each byte of the log; the other two are for quotes and names. */
const MAX_REPLY_BYTES = 2 * MAX_OUTPUT_BYTES + 8 * MAX_LOG_BYTES;
const NICENESS = 15;
const QUOTED_ERROR_BYTES = 2_000;

const readySchema = z.strictObject({ status: z.literal('ready') });
const replySchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('returned'), json: z.string(), logs: z.array(z.string()) }),
  z.strictObject({ status: z.literal('failed'), message: z.string(), line: z.int().nullable() }),
  z.strictObject({ status: z.enum(['timeout', 'memory', 'too_large']) }),
]);

/** The process did not start, ended by itself or broke the protocol: nothing is known of its program. */
export class SandboxProcessError extends Error {
  override readonly name = 'SandboxProcessError';
}

export interface SandboxProcess {
  readonly pid: number;
  /** False from the moment on in which it has ended or is being killed. */
  readonly isAlive: boolean;
  /**
   * Runs one program. It kills the process when that does not answer in time (the reply is then `timeout`), and when
   * `signal` is aborted (rejects with its reason). Rejects with a `SandboxProcessError`.
   */
  run(program: Program, signal: AbortSignal): Promise<Reply>;
  kill(): void;
}

interface Expected {
  read: (chunk: Buffer) => Buffer | undefined;
  resolve: (body: Buffer) => void;
  reject: (error: Error) => void;
}

/** Starts a process of the file `entry`. Rejects with a `SandboxProcessError`, or with the reason of `signal`. */
export async function startSandboxProcess(entry: string, signal: AbortSignal): Promise<SandboxProcess> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [...processFlags(entry), entry], {
    env: {},
    cwd: '/',
    // A terminal's Ctrl-C goes to the worker alone, which still lets its nodes finish.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const own = watch(child);
  lowerPriority(child, { niceness: NICENESS, hasOwnSession: true });
  try {
    const ready = await own.ask(undefined, { withinMs: START_WITHIN_MS, signal });
    if (!readySchema.safeParse(ready).success) throw new SandboxProcessError('The sandbox process did not start.');
  } catch (error) {
    own.kill();
    throw error;
  }
  return {
    pid: child.pid!,
    get isAlive() {
      return own.isAlive();
    },
    kill: own.kill,
    async run(program, runSignal) {
      const reply = await own.ask(program, { withinMs: program.timeoutMs + GRACE_MS, signal: runSignal });
      if (reply === undefined) return { status: 'timeout' };
      const parsed = replySchema.safeParse(reply);
      if (parsed.success) return parsed.data;
      own.kill();
      throw new SandboxProcessError('The sandbox process sent what is no reply.');
    },
  };
}

interface Asking {
  withinMs: number;
  signal: AbortSignal;
}

/** The channels of a process: one message to it, one from it, in turn. */
function watch(child: ChildProcess) {
  const programs = child.stdio[PROGRAMS_FD] as Writable;
  const replies = child.stdio[REPLIES_FD] as Readable;
  const errors = child.stderr!;
  const channels = [programs, replies, errors, child.stdio[LIFELINE_FD] as Readable];
  let expected: Expected | undefined;
  let isAlive = true;
  let said = '';

  const end = (error: Error): void => {
    isAlive = false;
    child.kill('SIGKILL');
    for (const channel of channels) channel.destroy();
    expected?.reject(error);
    expected = undefined;
  };
  const kill = (): void => end(new SandboxProcessError('The sandbox process was killed.'));

  child.once('error', (error) => end(new SandboxProcessError(`The sandbox process failed: ${error.message}`)));
  child.once('exit', (code, killedBy) => {
    const how = code === null ? `by ${killedBy}` : `with exit code ${code}`;
    end(new SandboxProcessError(`The sandbox process ended ${how}.${said === '' ? '' : ` It said: ${said}`}`));
  });
  // The `exit` handler reports the reason.
  for (const channel of channels) channel.on('error', () => undefined);
  errors.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, QUOTED_ERROR_BYTES)));
  replies.on('data', (chunk: Buffer) => {
    try {
      if (expected === undefined) throw new RangeError('bytes that nobody has asked for');
      const body = expected.read(chunk);
      if (body === undefined) return;
      const { resolve } = expected;
      expected = undefined;
      resolve(body);
    } catch (error) {
      end(new SandboxProcessError(`The sandbox process sent ${(error as Error).message}.`));
    }
  });

  /** Resolves with the answer as JSON; undefined, and the process is killed, when there is none in time. */
  const ask = async (message: Program | undefined, { withinMs, signal }: Asking): Promise<unknown> => {
    if (!isAlive) throw new SandboxProcessError('The sandbox process has ended.');
    let timer: NodeJS.Timeout | undefined;
    const body = await new Promise<Buffer | undefined>((resolve, reject) => {
      const asked = { read: createFrameReader(MAX_REPLY_BYTES), resolve, reject };
      expected = asked;
      const stop = (): void => {
        if (expected !== asked) return;
        resolve(undefined);
        kill();
      };
      // A worker that was paused reads what has come meanwhile before it decides that nothing has.
      timer = setTimeout(() => setImmediate(stop), withinMs);
      signal.addEventListener('abort', kill, { once: true });
      if (signal.aborted) kill();
      else if (message !== undefined) programs.write(toFrame(message));
    })
      .catch((error: Error) => {
        signal.throwIfAborted();
        throw error;
      })
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', kill);
      });
    if (body === undefined) return undefined;
    try {
      return JSON.parse(body.toString());
    } catch {
      kill();
      throw new SandboxProcessError('The sandbox process sent what is no JSON.');
    }
  };

  return { ask, kill, isAlive: () => isAlive };
}
