// Connections whose answers come in many small pieces over a long time, as models write. Each piece that is read by itself
// costs more than all else that is done with it, so pieces that follow each other closely are read together.
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/**
 * How long pieces wait at most for others: the more small ones an answer has brought in a row, the longer. Each is a part of the last one, so
 * that connections are read at the same moments: a moment in which a process works has a cost of its own.
 */
const DELAYS_MS = [0, 30, 60, 120];
/** So many small pieces in a row wait equally long. */
const READS_OF_DELAY = 4;
/** A read that brings so much is not one of many small ones. */
const LARGE_BYTES = 8 * 1024;

/** For the option `connect` of undici's agents. */
export function pacedConnector(): buildConnector.connector {
  // Node.js stops to read from a socket as soon as it holds this much, and asks for more once that is taken.
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
  // A timer may be a part of a millisecond early, and what is read before the moment would ask for the same one again.
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
    // Bytes that were written are another request.
    const isSmall = bytesRead - lastRead < LARGE_BYTES && bytesWritten === lastWritten;
    smallReads = isSmall ? smallReads + 1 : 0;
    [lastRead, lastWritten] = [bytesRead, bytesWritten];
    const delayMs = DELAYS_MS[Math.floor(smallReads / READS_OF_DELAY)] ?? DELAYS_MS.at(-1)!;
    if (delayMs === 0) read(size);
    else readLater(() => !socket.destroyed && read(size), delayMs);
  };
}

/* oxlint-enable no-underscore-dangle */
