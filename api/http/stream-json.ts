// Answers that are too large to be built: they are fetched and sent in pieces, no faster than the caller reads.
import { Readable } from 'node:stream';
import type { ByteBudget } from '../../outgoing/byte-budget.js';
import { toJsonPieces } from './json-text.js';

/** The memory of one piece: as the database driver holds it, as text, and as bytes to be sent. */
const PIECE_BYTES = 10 * 1024 * 1024;

/** Concurrent answers share the process's memory: each waits for its share before it fetches its next piece. */
export function streamJson(body: unknown, memory: ByteBudget): Readable {
  return Readable.from(piecesOf(body, memory), { objectMode: false, highWaterMark: 1 });
}

async function* piecesOf(body: unknown, memory: ByteBudget): AsyncGenerator<Buffer> {
  const lease = memory.lease();
  const pieces = toJsonPieces(body);
  try {
    for (;;) {
      await lease.resize(PIECE_BYTES);
      const { done, value } = await pieces.next();
      if (done === true) return;
      yield Buffer.from(value);
      await lease.resize(0);
    }
  } finally {
    lease.end();
    await pieces.return(undefined);
  }
}
