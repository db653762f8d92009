// Sends answers that are large or take long to produce, no faster than the caller reads them.
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { AppContext } from './app-state.js';
import { toJsonPieces, type AnswerMemory } from './json-text.js';

/** The kernel buffers this much at once; Koa sends smaller answers. */
export const SMALL_ANSWER_BYTES = 64 * 1024;
/** Small pieces are joined to at least this many characters. */
const JOINED_CHARACTERS = 64 * 1024;
/**
 * A caller that does not read `SLICE_BYTES` within `TAKEN_WITHIN_MS` (6.4 KiB a second) is disconnected: it has stopped
 * reading, or its connection is too slow for large answers.
 */
const SLICE_BYTES = 128 * 1024;
const TAKEN_WITHIN_MS = 20_000;

/**
 * Sends a JSON value that may hold `LazyJson`. An error within the first `JOINED_CHARACTERS` is thrown, and answered as
 * usual; a later one breaks the answer off.
 */
export async function sendJson(ctx: AppContext, body: unknown, lease: ByteLease): Promise<void> {
  const pieces = joined(toJsonPieces(body, toAnswerMemory(lease)));
  try {
    const first = await pieces.next();
    begin(ctx);
    await unlessBroken(ctx, async () => {
      for (let next = first; next.done !== true; next = await pieces.next())
        await sendSlices(ctx.res, next.value, lease);
    });
  } finally {
    await pieces.return(undefined);
  }
}

/** Sends a complete body. The lease covers the body, and its encoded copy if it is a string, while they are sent. */
export async function sendBytes(ctx: AppContext, body: string | Buffer, lease: ByteLease): Promise<void> {
  const sizeBytes = Buffer.byteLength(body);
  await lease.resize(Buffer.isBuffer(body) ? sizeBytes : 2 * sizeBytes);
  ctx.set('Content-Length', String(sizeBytes));
  begin(ctx);
  await unlessBroken(ctx, () => sendSlices(ctx.res, Buffer.isBuffer(body) ? body : Buffer.from(body), lease));
}

/**
 * Sends a stream until its source ends; for HEAD, only the headers. If the stream or the connection breaks, the other
 * one is destroyed. A caller that reads nothing for `stalledMs` is disconnected.
 */
export async function sendStream(ctx: AppContext, stream: Readable, stalledMs: number | undefined): Promise<void> {
  if (ctx.method === 'HEAD') {
    stream.destroy();
    begin(ctx);
    ctx.res.end();
    return;
  }
  if (stalledMs !== undefined) ctx.res.setTimeout(stalledMs, () => ctx.res.destroy());
  begin(ctx);
  try {
    await pipeline(stream, ctx.res);
  } catch (error) {
    ctx.state.log.info({ err: error }, 'the answer broke off');
  }
}

function begin(ctx: AppContext): void {
  ctx.respond = false;
  ctx.flushHeaders();
}

/** Destroys the connection if `send` fails, so that the caller does not take a partial answer for a complete one. */
async function unlessBroken({ res, state }: AppContext, send: () => Promise<void>): Promise<void> {
  try {
    await send();
    res.end();
  } catch (error) {
    state.log.info({ err: error }, 'the answer broke off');
    res.destroy();
  }
}

/** Accounts the pieces of an answer to the lease. */
export function toAnswerMemory(lease: ByteLease): AnswerMemory {
  let heldBytes = lease.bytes;
  return {
    async take(bytes) {
      heldBytes += bytes;
      await lease.resize(heldBytes);
    },
    give(bytes) {
      heldBytes -= bytes;
      void lease.resize(heldBytes);
    },
  };
}

async function* joined(pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let small: string[] = [];
  let characters = 0;
  for await (const piece of pieces) {
    small.push(piece);
    characters += piece.length;
    if (characters < JOINED_CHARACTERS) continue;
    const bytes = Buffer.from(small.join(''));
    small = [];
    characters = 0;
    yield bytes;
  }
  if (characters > 0) yield Buffer.from(small.join(''));
}

/** While a slice is pending, the lease may disconnect the caller to reclaim its memory. */
async function sendSlices(res: ServerResponse, bytes: Buffer, lease: ByteLease): Promise<void> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    const endLoan = lease.lend(() => res.destroy());
    try {
      await written(res, bytes.subarray(at, at + SLICE_BYTES));
    } finally {
      endLoan();
    }
  }
}

function written(res: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      clearTimeout(timer);
      res.off('close', hangUp);
      if (error) reject(error);
      else resolve();
    };
    const hangUp = (): void => settle(new Error('the caller hung up'));
    const timer = setTimeout(() => {
      // An earlier request of the connection is still being answered, so the caller cannot read this answer yet.
      if (res.socket === null && !res.destroyed) timer.refresh();
      else res.destroy();
    }, TAKEN_WITHIN_MS);
    res.once('close', hangUp);
    if (res.destroyed) hangUp();
    else res.write(bytes, settle);
  });
}
