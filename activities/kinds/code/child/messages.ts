// The protocol between the worker and a sandbox process. A message is a frame: a length (4 bytes, big-endian), then
// JSON text or the bytes of a file.
//
// The two sides alternate. After the process has received a program, it sends requests, each of which the worker
// answers, and finally its reply. Besides the file descriptors below, the process has only standard error, and a
// standard output that is discarded.

/** From the worker: one program at a time, and the answers to the requests of the program. */
export const PROGRAMS_FD = 0;
/** From the process: `ready` after its start, then the requests and the reply of each program. */
export const REPLIES_FD = 3;
/** Carries no data, and closes when the worker ends for any reason. */
export const LIFELINE_FD = 4;

export interface Program {
  /** The body of a JavaScript function of `inputs`. */
  code: string;
  /** JSON text of an object. */
  inputs: string;
  /**
   * The prefix of each string that represents a BigInt, in the inputs, in JSON files and in the returned value. The
   * code does not know the prefix.
   */
  marker: string;
  /** True if the inputs contain such a string. */
  hasMarks: boolean;
  /** Time for the code, in milliseconds. */
  timeoutMs: number;
}

/**
 * How a program ended. `json` is the returned value as JSON text, at most MAX_OUTPUT_BYTES. `line` is the line of the
 * code that failed, from 1; null if unknown. `code` is the error code of a file request that has failed, if
 * the program did not catch the error.
 */
export type Reply =
  | { status: 'returned'; json: string; logs: string[] }
  | { status: 'failed'; message: string; line: number | null; code?: string | undefined }
  | { status: 'timeout' | 'memory' | 'too_large' };

/** A request of the code to read or save a file. The worker sends an `Answer`. */
export type FileRequest =
  /** For `text` and `json` the answer is UTF-8. */
  | { status: 'read'; fileId: string; as: 'bytes' | 'text' | 'json' }
  /** The process sends the bytes as a frame after the worker has answered `ready`. */
  | { status: 'save'; name: string; type: string | null; size: number };

/**
 * `bytes`: the worker sends the bytes as a separate frame after the process has sent `{"status":"ready"}`. `pausedMs`:
 * the waits of the program so far that do not count as its time.
 */
export type Answer = (
  | { answer: 'bytes'; size: number }
  | { answer: 'ready' }
  | { answer: 'saved'; file: object }
  | { answer: 'failed'; code: string; message: string }
) & { pausedMs?: number };

export const READY = { status: 'ready' } as const;

/** Limits the total size of the files that a program reads and saves. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Limits the number of calls that read or save files. */
export const MAX_FILE_CALLS = 1_000;

export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Limits the console lines of a program, in bytes of UTF-8. */
export const MAX_LOG_BYTES = 64 * 1024;
export const MAX_MESSAGE_CHARACTERS = 2_000;
/** The memory of a program with everything that it creates, and of QuickJS itself. */
export const MEMORY_BYTES = 64 * 1024 * 1024;

export const HEADER_BYTES = 4;

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
