// Receives bodies as streams. A streamed body may be large and slow, but must not pause for a minute.
import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import type { AppContext } from './app-state.js';
import { bodyTooLarge, bodyTooSlow, parseError, unsupportedMediaType } from './errors.js';
import { askForBody } from './middleware/read-body.js';

/** A body that sends no byte for this time is refused. */
const SILENCE_MS = 60_000;
const CHECK_MS = 1_000;
/** The unread rest of a body is dropped for this long, so that the client reads the answer; then the request is cut. */
const DROPPED_MS = 5_000;

const unhurried = new WeakSet<IncomingMessage>();

/** True if the request's body is a stream, which is limited by its pauses instead of `requestTimeoutMs` (server.ts). */
export function isUnhurried(request: IncomingMessage): boolean {
  return unhurried.has(request);
}

/**
 * Returns the body as a stream. The stream fails with 408 after 60 seconds without a byte, and with 400 if it ends
 * early. Throws 413 if the request announces more than `limitBytes`, and 415 if it is compressed. The caller has to
 * limit a body of unannounced length.
 */
export function openBody(ctx: AppContext, limitBytes: number): Readable {
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw unsupportedMediaType(encoding);
  if (Number(ctx.get('content-length')) > limitBytes) {
    if (ctx.req.headers.expect === undefined) drop(ctx.req);
    throw bodyTooLarge(limitBytes);
  }
  unhurried.add(ctx.req);
  askForBody(ctx);
  const body = new PacedBody(ctx.req);
  // A body that nobody reads ends with its answer; its failure must not become an uncaught error.
  body.on('error', () => undefined);
  ctx.res.once('close', () => body.destroy());
  return body;
}

class PacedBody extends Transform {
  readonly #request: IncomingMessage;
  readonly #clock: NodeJS.Timeout;
  #heardMs = performance.now();

  constructor(request: IncomingMessage) {
    super();
    this.#request = request;
    this.#clock = setInterval(() => {
      // The sender has to wait while the reader is busy, so this time does not count.
      if (this.readableLength > 0 || this.writableNeedDrain) this.#heardMs = performance.now();
      else if (performance.now() - this.#heardMs > SILENCE_MS) this.destroy(bodyTooSlow());
    }, CHECK_MS);
    const endedEarly = (cause?: unknown): void => {
      if (!request.complete) this.destroy(parseError('The body ended too early.', cause));
    };
    request.once('error', endedEarly).once('close', endedEarly).pipe(this);
    if (request.destroyed) endedEarly();
  }

  override _transform(bytes: Buffer, _: BufferEncoding, done: (error: null, bytes: Buffer) => void): void {
    this.#heardMs = performance.now();
    done(null, bytes);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#clock);
    this.#request.unpipe(this);
    if (!this.#request.complete) drop(this.#request);
    done(error);
  }
}

function drop(request: IncomingMessage): void {
  request.on('error', () => undefined).resume();
  const cut = setTimeout(() => request.destroy(), DROPPED_MS);
  request.once('close', () => clearTimeout(cut));
}
