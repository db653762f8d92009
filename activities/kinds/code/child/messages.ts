// The worker and a sandbox process send each other messages: frames of a length (4 bytes, big-endian) and JSON text. The
// process is started with nothing but these file descriptors besides standard error.

/** The worker sends one program at a time here. */
export const PROGRAMS_FD = 0;
/** The process answers here: once `ready`, then one reply to each program. */
export const REPLIES_FD = 3;
/** Nothing is ever sent here. It ends when the worker ends, however it ends. */
export const LIFELINE_FD = 4;

export interface Program {
  /** The body of a function of `inputs`, in JavaScript. */
  code: string;
  /** JSON text of an object. */
  inputs: string;
  /** Begins each string that stands for a BigInt, in the inputs and in what was returned. The code does not know it. */
  marker: string;
  /** Whether the inputs have such a string. */
  hasMarks: boolean;
  /** Time for the code, in milliseconds. */
  timeoutMs: number;
}

/**
 * How a program ended. `json` is what it returned as JSON text, at most MAX_OUTPUT_BYTES. `line` is that of the code in
 * which it failed, from 1; null where none is known.
 */
export type Reply =
  | { status: 'returned'; json: string; logs: string[] }
  | { status: 'failed'; message: string; line: number | null }
  | { status: 'timeout' | 'memory' | 'too_large' };

export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** The limit on the console lines of a program together, in bytes of UTF-8. */
export const MAX_LOG_BYTES = 64 * 1024;
export const MAX_MESSAGE_CHARACTERS = 2_000;
/** The memory of a program with all that it makes, and QuickJS itself. */
export const MEMORY_BYTES = 64 * 1024 * 1024;

export const HEADER_BYTES = 4;

/** Returns the message as one frame. */
export function toFrame(message: unknown): Buffer {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  frame.writeUInt32BE(bytes);
  frame.write(text, HEADER_BYTES);
  return frame;
}
