import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';

/**
 * In characters of the database, of which one may be two of ours. The whole result is unpacked for each piece of it, so
 * that small ones cost time and large ones memory.
 */
const PIECE_CHARACTERS = 2 * 1024 * 1024;

/**
 * A result's JSON text, piece by piece, and no connection is held between two. Throws when it has expired meanwhile: what
 * was begun cannot be ended then.
 */
export function readResultPieces(db: Db, { runId, path, nodeId }: NodeKey): AsyncGenerator<string> {
  return readPieces(async (from, count) => {
    const { rows } = await sql<{ piece: string }>`
      SELECT substr(result::text, ${from}::integer, ${count}::integer) AS piece FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`.execute(db);
    return rows[0]?.piece;
  });
}

/** `read`: `count` characters of a text from the position `from`, which counts from 1; undefined where it is gone. */
export async function* readPieces(
  read: (from: number, count: number) => Promise<string | undefined>,
): AsyncGenerator<string> {
  for (let from = 1; ; from += PIECE_CHARACTERS) {
    const piece = await read(from, PIECE_CHARACTERS);
    if (piece === undefined) throw new Error('a result expired while it was read');
    yield piece;
    // A full piece has at least as many characters as we count it by.
    if (piece.length < PIECE_CHARACTERS) return;
  }
}
