// Connections whose answers arrive in many small pieces over a long time, as models write. Reading each piece by itself
// costs more than the rest of its processing, so pieces that follow each other closely are read together.
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/**
 * The longest waits for further pieces; the wait grows with the number of small pieces in a row. Each delay
 * is a multiple of the one before, so that connections are read at the same moments, because each wake-up
 * of the process has its own cost.
 */
const DELAYS_MS = [0, 30, 60, 120];
/** Each delay applies to this many small reads in a row, the last one to all further ones. */
const READS_OF_DELAY = 4;
/** A read of this size is not one of many small ones. */
const LARGE_BYTES = 8 * 1024;

/** Use this as the option `connect` of undici's agents. */
export function pacedConnector(): buildConnector.connector {
  // Node.js stops reading from a socket when its buffer holds this much, and calls `_read`
  // again after the buffer is consumed.
  const connect = buildConnector({ highWaterMark: 1 } as buildConnector.BuildOptions);
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      paceReads(socket);
      callback(null, socket);
    });
}

const moments = new Map<number, (() => void)[]>();

/** Calls `read` at the next moment that is a multiple of `delayMs`. */
function readLater(read: () => void, delayMs: number): void {
  const now = performance.now();
  const at = Math.ceil(now / delayMs) * delayMs;
  const reads = moments.get(at);
  if (reads !== undefined) return void reads.push(read);
  moments.set(at, [read]);
  // A timer may fire a fraction of a millisecond early, and a read before the moment would
  // schedule the same moment again.
  const inMs = Math.ceil(at - now) + 1;
  setTimeout(() => {
    const due = moments.get(at) ?? [];
    moments.delete(at);
    for (const each of due) each();
  }, inMs);
}

/* oxlint-disable no-underscore-dangle -- Node.js names the method so by which a stream asks for more */
function paceReads(socket: Socket): void {
  const read = socket._read.bind(socket);
  let smallReads = 0;
  let [lastRead, lastWritten] = [0, 0];
  socket._read = (size) => {
    const { bytesRead, bytesWritten } = socket;
    // If bytes were written since the last read, another request has started: its answer is read at once.
    const isSmall = bytesRead - lastRead < LARGE_BYTES && bytesWritten === lastWritten;
    smallReads = isSmall ? smallReads + 1 : 0;
    [lastRead, lastWritten] = [bytesRead, bytesWritten];
    const delayMs = DELAYS_MS[Math.floor(smallReads / READS_OF_DELAY)] ?? DELAYS_MS.at(-1)!;
    if (delayMs === 0) read(size);
    else readLater(() => !socket.destroyed && read(size), delayMs);
  };
}

/* oxlint-enable no-underscore-dangle */
