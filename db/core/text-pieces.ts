// Reads large texts from the database in pieces. PostgreSQL decompresses the whole text for each statement that cuts a
// piece out of it. So a fast reader gets all pieces from one cursor, and the text is decompressed once. A slow reader
// loses its cursor, so that it holds no connection, and each later read decompresses the text again.
import { sql, type ControlledTransaction, type RawBuilder } from 'kysely';
import type { Db } from './client.js';
import type { Tables } from './tables.js';

/** Bytes of UTF-8. */
const PIECE_LENGTH = 512 * 1024;

/**
 * The memory to reserve for a piece while it is fetched. It is more than the driver needs, to limit the number of
 * readers that query large texts at the same time.
 */
export const PIECE_BYTES = 32 * PIECE_LENGTH;

/** The limit on open cursors in a process, each of which holds a connection. Further readers use single statements. */
const MOST_CURSORS = 4;
/** A cursor is closed if its reader does not read again within this time. */
const KEPT_OPEN_MS = 200;

interface Piece {
  bytes: Buffer;
  total: number;
}

let openCursors = 0;

/**
 * Yields the text of `text`, a query for one row with the column `text`. Throws if there is no row: the text has
 * expired meanwhile, and a response that has started cannot be completed.
 */
export async function* readPieces(db: Db, text: RawBuilder<unknown>): AsyncGenerator<string> {
  // A byte order mark is part of the text.
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

  /** Reads the piece that starts at byte `from`, counted from 1; `from` must follow the previous piece. */
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

  /** Never rejects: a lost connection counts as closed. */
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

  /** Decompresses the text once for all rows. */
  #piecesFrom(from: number): RawBuilder<unknown> {
    return sql`
      SELECT substr(whole.bytes, start, ${sql.lit(PIECE_LENGTH)}) AS bytes, length(whole.bytes) AS total
      FROM (SELECT convert_to(text, 'UTF8') AS bytes FROM (${this.#text}) AS found OFFSET 0) AS whole
      CROSS JOIN LATERAL generate_series(${from}::integer, length(whole.bytes), ${sql.lit(PIECE_LENGTH)}) AS start`;
  }
}
