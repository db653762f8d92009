// Tells errors of a database that is away or full from errors of a statement.

/**
 * - `no answer`: there is no connection. A statement that was under way may have had its effect.
 * - `no room`: reads are answered and changes are refused. The statement has had no effect.
 */
export type Outage = 'no answer' | 'no room';

/** Thrown in place of a connection: the statement was not sent. */
export class NoConnectionError extends Error {
  override name = 'NoConnectionError';

  constructor(cause?: unknown) {
    super('PostgreSQL gives no connection.', { cause });
  }
}

/** The server ends or refuses connections, such as while it stops or starts (57P), or the connection is broken (08). */
const NO_ANSWER = /^(?:57P0[1-5]|08[0-9A-Z]{3})$/;
/** The codes of Node.js errors of a broken connection. */
const BROKEN_SOCKET = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNABORTED'];
/**
 * The texts of the errors without a code that `pg` throws if a connection ended while it was opened, before a statement
 * or during one.
 */
const TERMINATED = /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/;
/**
 * The disk is full (53100), or the server has made itself read-only (25006), which managed servers do before their disk
 * is full. A replica answers 25006, too: if several hosts are listed, the pool and `DatabasePulse` then change to the
 * next one.
 */
const NO_ROOM = ['53100', '25006'];

/** Returns undefined for an error of the statement itself. */
export function outageOf(error: unknown): Outage | undefined {
  if (error instanceof NoConnectionError) return 'no answer';
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return TERMINATED.test(error.message) ? 'no answer' : undefined;
  if (NO_ROOM.includes(code)) return 'no room';
  return NO_ANSWER.test(code) || BROKEN_SOCKET.includes(code) ? 'no answer' : undefined;
}

/** SQLSTATE class 53: memory, connections, locks or another resource of the server is used up. */
export function isShortOfResources(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^53[0-9A-Z]{3}$/.test(code);
}
