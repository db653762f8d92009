// The worker's side of a sandbox process. It trusts nothing that the process sends, because a program may have taken
// control of the process.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { untilAborted } from '../../../outgoing/until-aborted.js';
import { lowerPriority } from '../../../processes/lower-priority.js';
import {
  LIFELINE_FD,
  MAX_LOG_BYTES,
  MAX_OUTPUT_BYTES,
  PROGRAMS_FD,
  REPLIES_FD,
  toFrame,
  toHeader,
  type Answer,
  type FileRequest,
  type Program,
  type Reply,
} from './child/messages.js';
import { createFrameReader } from './child/frame-reader.js';
import { processFlags } from './process-flags.js';
import { startProgramLimit, type ProgramLimit } from './program-limit.js';
import { cutText } from '../../../graph/cut-text.js';

/** Allows for a busy machine, on which everything with a higher priority runs first. */
const START_WITHIN_MS = 120_000;
/** The extra time after the time limit in which a program may stop by itself and its process may report that. */
const GRACE_MS = 1_000;
/**
 * Two bytes for each byte of the output. Of the eight bytes for each byte of the log, its text takes at most six; the
 * others are for quotes and names.
 */
const MAX_REPLY_BYTES = 2 * MAX_OUTPUT_BYTES + 8 * MAX_LOG_BYTES;
const NICENESS = 15;
const QUOTED_ERROR_BYTES = 2_000;

const readySchema = z.strictObject({ status: z.literal('ready') });
const replySchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('returned'), json: z.string(), logs: z.array(z.string()) }),
  z.strictObject({
    status: z.literal('failed'),
    message: z.string(),
    line: z.int().nullable(),
    code: z.string().optional(),
  }),
  z.strictObject({ status: z.enum(['timeout', 'memory', 'too_large']) }),
]);

const requestSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('read'), fileId: z.string(), as: z.enum(['bytes', 'text', 'json']) }),
  z.strictObject({
    status: z.literal('save'),
    name: z.string(),
    type: z.string().nullable(),
    size: z.int().min(0),
  }),
]);

/** The part of a program's time limit that `ServeFiles` uses. */
export type ServingLimit = Pick<ProgramLimit, 'signal' | 'outside'>;

/**
 * Reads or saves a file for a program. Returns the requested bytes, or an answer. `receive` returns the bytes to
 * save. A rejection ends the program.
 */
export type ServeFiles = (
  request: FileRequest,
  receive: () => Promise<Buffer>,
  limit: ServingLimit,
) => Promise<Buffer | Answer>;

export const noFiles: ServeFiles = () => {
  return Promise.resolve({ answer: 'failed', code: 'file_missing', message: 'There are no files here.' });
};

/** The process did not start, ended or broke the protocol. The outcome of its program is unknown. */
export class SandboxProcessError extends Error {
  override readonly name = 'SandboxProcessError';
}

export interface SandboxProcess {
  readonly pid: number;
  /** False as soon as the process has ended or is being killed. */
  readonly isAlive: boolean;
  /**
   * Runs one program. Kills the process if it does not answer in time (the reply is then `timeout`), and before this
   * call rejects: with the reason of `signal`, a `SandboxProcessError`, or a rejection of `serve`.
   */
  run(program: Program, signal: AbortSignal, serve?: ServeFiles): Promise<Reply>;
  kill(): void;
}

interface Expected {
  read: (chunk: Buffer) => Buffer | undefined;
  resolve: (body: Buffer) => void;
  reject: (error: Error) => void;
}

/**
 * Starts a process that executes the file `entry`. Rejects with a `SandboxProcessError`,
 * or with the reason of `signal`.
 */
export async function startSandboxProcess(entry: string, signal: AbortSignal): Promise<SandboxProcess> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [...processFlags(entry), entry], {
    env: {},
    cwd: '/',
    // Ctrl-C in a terminal then reaches the worker only, which still lets its nodes finish.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  // A process that could not be started for want of file descriptors has no channels, and reports the error later.
  if ((child.stdio as readonly unknown[] | undefined)?.[PROGRAMS_FD] === undefined) {
    const [error] = (await once(child, 'error', { signal })) as [Error];
    throw new SandboxProcessError(`The sandbox process failed: ${error.message}`);
  }
  const own = watch(child);
  lowerPriority(child, { niceness: NICENESS, hasOwnSession: true });
  try {
    const soon = AbortSignal.timeout(START_WITHIN_MS);
    const ready = await own.ask(undefined, AbortSignal.any([signal, soon])).catch((error: unknown) => {
      if (soon.aborted && !signal.aborted) throw new SandboxProcessError('The sandbox process did not start in time.');
      throw error;
    });
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
    async run(program, stop, serve = noFiles) {
      const limit = startProgramLimit(child.pid!, program.timeoutMs + GRACE_MS, stop);
      try {
        return await converse(own, program, serve, limit);
      } catch (error) {
        own.kill();
        if (limit.signal.aborted && !stop.aborted) return { status: 'timeout' };
        throw error;
      } finally {
        limit.clear();
      }
    },
  };
}

type Watched = ReturnType<typeof watch>;

/** Answers the requests of a program until it replies. */
async function converse(own: Watched, program: Program, serve: ServeFiles, limit: ProgramLimit): Promise<Reply> {
  const { signal } = limit;
  const receive = (size: number) => async (): Promise<Buffer> => {
    const bytes = await own.askBytes([toFrame({ answer: 'ready' })], signal, size);
    if (bytes.length === size) return bytes;
    throw new SandboxProcessError('The sandbox process sent other bytes than it had said.');
  };
  let message = await own.ask(program, signal);
  for (;;) {
    const reply = replySchema.safeParse(message);
    if (reply.success) return reply.data;
    const request = requestSchema.safeParse(message);
    if (!request.success) throw new SandboxProcessError('The sandbox process sent what is no reply.');
    const size = 'size' in request.data ? request.data.size : 0;
    const answer = await limit.serving(untilAborted(serve(request.data, receive(size), limit), signal));
    const pausedMs = limit.pausedMs();
    if (!Buffer.isBuffer(answer)) {
      message = await own.ask({ ...answer, pausedMs }, signal);
      continue;
    }
    const ready = await own.ask({ answer: 'bytes', size: answer.length, pausedMs }, signal);
    if (!readySchema.safeParse(ready).success) throw new SandboxProcessError('The sandbox process took no file.');
    message = await own.ask([toHeader(answer.length), answer], signal);
  }
}

/** Manages the channels of a process, which carry one message in each direction alternately. */
function watch(child: ChildProcess) {
  const programs = child.stdio[PROGRAMS_FD] as Writable;
  const replies = child.stdio[REPLIES_FD] as Readable;
  const errors = child.stderr!;
  const channels = [programs, replies, errors, child.stdio[LIFELINE_FD] as Readable];
  let expected: Expected | undefined;
  let isAlive = true;
  let errorOutput = '';

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
    end(
      new SandboxProcessError(
        `The sandbox process ended ${how}.${errorOutput === '' ? '' : ` It said: ${errorOutput}`}`,
      ),
    );
  });
  // Ignored: the `exit` handler reports the reason.
  for (const channel of channels) channel.on('error', () => undefined);
  errors.on('data', (chunk: Buffer) => (errorOutput = cutText(errorOutput + chunk.toString(), QUOTED_ERROR_BYTES)));
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

  /** Resolves with the answer. If `signal` is aborted first, kills the process and rejects with the reason. */
  const askBytes = async (
    message: readonly Buffer[],
    signal: AbortSignal,
    maxBytes = MAX_REPLY_BYTES,
  ): Promise<Buffer> => {
    if (!isAlive) throw new SandboxProcessError('The sandbox process has ended.');
    return await new Promise<Buffer>((resolve, reject) => {
      expected = { read: createFrameReader(maxBytes), resolve, reject };
      signal.addEventListener('abort', kill, { once: true });
      if (signal.aborted) kill();
      else for (const part of message) programs.write(part);
    })
      .catch((error: Error) => {
        signal.throwIfAborted();
        throw error;
      })
      .finally(() => signal.removeEventListener('abort', kill));
  };

  /** Like `askBytes`, with a JSON answer. Sends a list as frames, an object as one frame, and nothing for undefined. */
  const ask = async (message: object | undefined | Buffer[], signal: AbortSignal): Promise<unknown> => {
    const frames = Array.isArray(message) ? message : message === undefined ? [] : [toFrame(message)];
    const body = await askBytes(frames, signal);
    try {
      return JSON.parse(body.toString());
    } catch {
      kill();
      throw new SandboxProcessError('The sandbox process sent what is no JSON.');
    }
  };

  return { ask, askBytes, kill, isAlive: () => isAlive };
}
