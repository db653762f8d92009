// Connections whose answers come in many small pieces over a long time, as models write. Each piece that is read by itself
// costs more than all else that is done with it, so pieces that follow each other closely are read together.
import type { Socket } from 'node:net';
import { buildConnector, DecoratorHandler, type Dispatcher } from 'undici';

/** Pieces wait this long for others, once an answer has come in many. */
const TOGETHER_MS = 80;
/** So many reads of a connection are not delayed; one more is not for each time that the delay has passed. */
const FREE_READS = 8;
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

/* oxlint-disable no-underscore-dangle -- Node.js names the method so by which a stream asks for more */
function paceReads(socket: Socket): void {
  const read = socket._read.bind(socket);
  let free = FREE_READS;
  let lastAt = performance.now();
  let lastBytes = 0;
  socket._read = (size) => {
    const now = performance.now();
    free = Math.min(FREE_READS, free + (now - lastAt) / TOGETHER_MS);
    lastAt = now;
    const isLarge = socket.bytesRead - lastBytes >= LARGE_BYTES;
    lastBytes = socket.bytesRead;
    if (!isLarge) free = Math.max(0, free - 1);
    if (free > 0) read(size);
    else setTimeout(() => !socket.destroyed && read(size), TOGETHER_MS);
  };
}

/* oxlint-enable no-underscore-dangle */

/** Returns the dispatcher with answers in which pieces that were read together are one piece. */
export function joiningPieces(dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new JoiningHandler(handler)));
}

class JoiningHandler extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  #pieces: Buffer[] = [];

  constructor(handler: Dispatcher.DispatchHandler) {
    super(handler);
    this.#handler = handler;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#pieces.push(piece) === 1) queueMicrotask(() => this.#pass(controller));
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Parameters<EndOf>[1]): void {
    this.#pass(controller);
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#pieces = [];
    this.#handler.onResponseError?.(controller, error);
  }

  #pass(controller: Dispatcher.DispatchController): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    if (pieces.length > 0)
      this.#handler.onResponseData?.(controller, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
  }
}

type EndOf = NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>;
