// Large texts of the database, piece by piece. PostgreSQL unpacks the whole text before it cuts a piece out of it. So a reader
// that keeps up gets all pieces of one cursor, and the time grows with the text; one that does not holds no connection while
// it is slow, and the text is unpacked again for it.
import { sql, type ControlledTransaction, type RawBuilder } from 'kysely';
import type { Db } from './client.js';
import type { Tables } from './tables.js';

/** Bytes of UTF-8. */
const PIECE_LENGTH = 512 * 1024;

/**
 * Bytes of memory that a piece takes while it is fetched. They are more than the driver holds, so that few readers of large
 * texts come to the database at once.
 */
export const PIECE_BYTES = 32 * PIECE_LENGTH;

/** So many cursors are open in a process at once, each of which holds a connection. Other readers do without. */
const MOST_CURSORS = 4;
/** A cursor is closed when its reader has not come back for so long. */
const KEPT_OPEN_MS = 200;

interface Piece {
  bytes: Buffer;
  /** The length of the whole text. */
  total: number;
}

let openCursors = 0;

/**
 * `text` is a query for one row with the column `text`. Throws where it has none, since what was begun cannot be ended then: the
 * text has expired meanwhile.
 */
export async function* readPieces(db: Db, text: RawBuilder<unknown>): AsyncGenerator<string> {
  // A byte order mark is a character of the text here.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const source = new PieceSource(db, text);
  try {
    for (let from = 1; ;) {
      const piece = await source.read(from);
      if (piece === undefined) throw new Error('a result expired while it was read');
      from += piece.bytes.length;
      const isLast = from > piece.total;
      if (isLast) await source.close();
      yield decoder.decode(piece.bytes, { stream: !isLast });
      if (isLast) return;
    }
  } finally {
    await source.close();
  }
}

class PieceSource {
  readonly #db: Db;
  readonly #text: RawBuilder<unknown>;
  #cursor: ControlledTransaction<Tables> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(db: Db, text: RawBuilder<unknown>) {
    this.#db = db;
    this.#text = text;
  }

  /** The piece that begins with the byte `from`, which counts from 1 and follows the piece before. */
  async read(from: number): Promise<Piece | undefined> {
    clearTimeout(this.#timer);
    await this.#closing;
    if (this.#cursor === undefined && openCursors < MOST_CURSORS) await this.#open(from);
    const { rows } =
      this.#cursor === undefined
        ? await sql<Piece>`${this.#piecesFrom(from)} LIMIT 1`.execute(this.#db)
        : await sql<Piece>`FETCH 1 FROM pieces`.execute(this.#cursor);
    if (this.#cursor !== undefined) this.#timer = setTimeout(() => void this.close(), KEPT_OPEN_MS);
    return rows[0];
  }

  /** Never rejects: a connection that is lost is closed, too. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    const cursor = this.#cursor;
    if (cursor === undefined) return this.#closing ?? Promise.resolve();
    this.#cursor = undefined;
    this.#closing = cursor
      .rollback()
      .execute()
      .catch(() => undefined)
      .finally(() => (openCursors -= 1));
    return this.#closing;
  }

  async #open(from: number): Promise<void> {
    openCursors += 1;
    try {
      this.#cursor = await this.#db.startTransaction().setAccessMode('read only').execute();
    } catch (error) {
      openCursors -= 1;
      throw error;
    }
    await sql`DECLARE pieces NO SCROLL CURSOR FOR ${this.#piecesFrom(from)}`.execute(this.#cursor);
  }

  /** The text is unpacked once for all rows. */
  #piecesFrom(from: number): RawBuilder<unknown> {
    return sql`
      SELECT substr(whole.bytes, start, ${sql.lit(PIECE_LENGTH)}) AS bytes, length(whole.bytes) AS total
      FROM (SELECT convert_to(text, 'UTF8') AS bytes FROM (${this.#text}) AS found OFFSET 0) AS whole
      CROSS JOIN LATERAL generate_series(${from}::integer, length(whole.bytes), ${sql.lit(PIECE_LENGTH)}) AS start`;
  }
}
