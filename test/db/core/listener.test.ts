import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { startListener, type Listener } from '../../../db/core/listener.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect } from '../open-run.js';

describe('the listening connection', function () {
  this.timeout(120_000);
  const channel = `test_${randomUUID()}`;
  const seen = { messages: [] as string[], connected: 0, lost: 0 };
  let db: Database;
  let listener: Listener;

  before(async () => {
    db = await connect(1);
    listener = startListener({
      url: (await sharedStack()).stack.database_url,
      channels: [channel],
      applicationName: channel,
      onMessage: (_channel, payload) => seen.messages.push(payload),
      onConnected: () => seen.connected++,
      onLost: () => seen.lost++,
    });
    await eventually(() => seen.connected === 1);
  });
  after(async () => {
    await listener.stop();
    await db.destroy();
  });

  const tell = (payload: string) => sql`SELECT pg_notify(${channel}, ${payload})`.execute(db);
  const backends = async (): Promise<number[]> => {
    const { rows } = await sql<{ pid: number }>`
      SELECT pid FROM pg_stat_activity WHERE application_name = left(${channel}, 63)`.execute(db);
    return rows.map(({ pid }) => pid);
  };

  it('passes on what is sent to its channel', async () => {
    await tell('one');
    await eventually(() => seen.messages.includes('one'));
  });

  it('says that it was lost, and when it is back, and then hears again', async () => {
    for (const round of [1, 2, 3]) {
      const [pid] = await backends();
      await sql`SELECT pg_terminate_backend(${pid})`.execute(db);
      await eventually(() => seen.lost === round && seen.connected === round + 1);
      await tell(`after ${round}`);
      await eventually(() => seen.messages.includes(`after ${round}`));
    }
  });

  it('leaves no connection behind when it is stopped', async () => {
    await listener.stop();
    await eventually(async () => (await backends()).length === 0);
    assert.equal(seen.lost, 3);
  });
});
