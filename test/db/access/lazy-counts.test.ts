import assert from 'node:assert/strict';
import { sql } from 'kysely';
import {
  countKeyRequests,
  countSessionRequests,
  uncountKeyRequests,
} from '../../../db/access/rate-limits-repository.js';
import type { Database } from '../../../db/core/client.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect } from '../open-run.js';

// PostgreSQL commits a transaction that wrote only unlogged tables as if `synchronous_commit` were off.

const COUNTS = 20;
/** A connection that fills a WAL segment waits for the disk even if its commits do not. */
const MOST_FILLED_SEGMENTS = 2;

describe('counted requests', function () {
  this.timeout(60_000);
  let db: Database;

  before(async () => (db = await connect(1)));
  after(() => db.destroy());

  /** Returns how often the only connection has waited until its commits were on the disk. */
  const flushes = async (): Promise<number> => {
    await sql`SELECT pg_stat_force_next_flush()`.execute(db);
    const { rows } = await sql<{ fsyncs: number }>`
      SELECT coalesce(sum(fsyncs), 0)::integer AS fsyncs FROM pg_stat_get_backend_io(pg_backend_pid()) 
      WHERE object = 'wal' AND context = 'normal'`.execute(db);
    return rows[0]!.fsyncs;
  };
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await flushes();
    for (let n = 0; n < COUNTS; n += 1) await work();
    return (await flushes()) - before;
  };

  it('do not wait for the disk, and nothing after them is written lazily', async () => {
    const { apiKey, stack } = await sharedStack();
    const counted = await countKeyRequests(db, apiKey, 1);
    const { keyId, resetAtSeconds } = counted!;
    const lazy = [
      () => countKeyRequests(db, apiKey, 1),
      () => countSessionRequests(db, { by: 'user', userId: stack.user_id }, 1),
      () => uncountKeyRequests(db, keyId, { count: 1, resetAtSeconds }),
    ];
    for (const count of lazy) assert.ok((await during(count)) <= MOST_FILLED_SEGMENTS);
    // Other connections may flush some of these commits, so they are not all counted here.
    const touch = () => sql`UPDATE users SET name = name WHERE id = ${stack.user_id}`.execute(db);
    const waits = await during(touch);
    assert.ok(waits > MOST_FILLED_SEGMENTS, `${waits} waits for the disk`);
  });
});
