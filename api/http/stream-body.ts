// Bodies that are taken as streams. They may be large and take long, as long as they come.
import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import type { AppContext } from './app-state.js';
import { bodyTooLarge, bodyTooSlow, parseError, unsupportedMediaType } from './errors.js';
import { askForBody } from './middleware/read-body.js';

/** A body that says nothing for longer has ended. */
const SILENCE_MS = 60_000;
const CHECK_MS = 1_000;
/** What is left of a refused body is dropped for this long, so that the client reads the answer. */
const DROPPED_MS = 5_000;

const unhurried = new WeakSet<IncomingMessage>();

/** Returns whether the request may take longer than other requests: its body is judged by its silences. */
export function isUnhurried(request: IncomingMessage): boolean {
  return unhurried.has(request);
}

/**
 * Returns the body as a stream. It fails with 408 after 60 seconds without a byte, and with 400 where it ends early. Throws
 * 413 where the request announces more than `limitBytes`, and 415 where it is compressed.
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
  // A body that nobody reads ends with its answer, and its failure is nobody's.
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
      // While the reader is busy, the sender has to wait.
      if (this.readableLength > 0 || this.writableNeedDrain) this.#heardMs = performance.now();
      else if (performance.now() - this.#heardMs > SILENCE_MS) this.destroy(bodyTooSlow());
    }, CHECK_MS);
    const endedEarly = (cause?: unknown): void => {
      if (!request.complete) this.destroy(parseError('the body ended too early.', cause));
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
