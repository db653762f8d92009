// The worker and a sandbox process send each other messages: frames of a length (4 bytes, big-endian) and JSON text, or the
// bytes of a file. They speak in turn: after a program, the process sends requests, each of which the worker answers, and
// then its reply. The process is started with nothing but these file descriptors besides standard error.

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
 * which it failed, from 1; null where none is known. `code` is that of an answer which the code has not caught.
 */
export type Reply =
  | { status: 'returned'; json: string; logs: string[] }
  | { status: 'failed'; message: string; line: number | null; code?: string | undefined }
  | { status: 'timeout' | 'memory' | 'too_large' };

/** The code wants a file of the worker, and waits for an `Answer`. */
export type FileRequest =
  /** For `text` and `json` the answer is UTF-8. */
  | { status: 'read'; fileId: string; as: 'bytes' | 'text' | 'json' }
  /** The process sends the bytes as a frame when the worker has answered `ready`. */
  | { status: 'save'; name: string; type: string | null; size: number };

/** `bytes` follow as a frame of their own, once the process has sent `{"status":"ready"}`. */
export type Answer =
  | { answer: 'bytes'; size: number }
  | { answer: 'ready' }
  | { answer: 'saved'; file: object }
  | { answer: 'failed'; code: string; message: string };

export const READY = { status: 'ready' } as const;

/** The limit on what a program reads and saves together. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** The limit on its calls that read or save. */
export const MAX_FILE_CALLS = 1_000;

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

export function toHeader(bytes: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(bytes);
  return header;
}
