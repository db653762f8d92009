import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../../harness/processes/free-port.js';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { startListener } from '../../../db/core/listener.js';
import { outageOf } from '../../../db/core/outage.js';
import { startPostgresPair, type PostgresPair } from '../../../harness/hosts/postgres-pair.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';
import { eventually } from '../../../harness/timing/eventually.js';

const CHANNEL = 'hosts';
const takesNoWrites = (error: unknown): boolean => outageOf(error) === 'no room';

describe('a database on several hosts', function () {
  this.timeout(300_000);
  const folder = makeDataDir();
  const heard: string[] = [];
  let pair: PostgresPair;

  const place = async (name: string) => ({
    name,
    address: '127.0.0.1',
    port: await freePort(),
    folder: path.join(folder, name),
  });
  const open = (url: string): Database =>
    createDatabase({ url, poolMax: 3, applicationName: 'hosts-test', onError: () => undefined });
  const listen = (url: string, onConnected: () => void) =>
    startListener({
      url,
      channels: [CHANNEL],
      applicationName: 'hosts-test',
      onMessage: (_channel, payload) => heard.push(payload),
      onConnected,
      onLost: () => undefined,
    });
  const portOf = async (db: Database): Promise<number> => {
    const { rows } = await sql<{ port: number }>`SELECT current_setting('port')::integer AS port`.execute(db);
    return rows[0]!.port;
  };
  const ports = (): number[] => pair.urls.map((url) => Number(new URL(url).port));
  /** The URL of the database with these hosts. A number is a port of this machine. */
  const listed = (...hosts: (string | number)[]): string => {
    const url = new URL(pair.urls[0]);
    return pair.urls[0].replace(
      url.host,
      hosts.map((host) => (typeof host === 'number' ? `127.0.0.1:${host}` : host)).join(','),
    );
  };

  before(async () => {
    pair = await startPostgresPair([await place('first'), await place('second')]);
  });
  after(async () => {
    await pair?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is reached where the first host of the list is down', async () => {
    const down = await freePort();
    const url = listed(down, ports()[0]!);
    const db = open(url);
    let connected = 0;
    const listener = listen(url, () => connected++);
    try {
      assert.equal(await portOf(db), ports()[0]);
      await eventually(() => connected === 1);
    } finally {
      await listener.stop();
      await db.destroy();
    }
  });

  it('is written to where the first host of the list only reads', async () => {
    const url = listed(ports()[1]!, ports()[0]!);
    const db = open(url);
    let connected = 0;
    const listener = listen(url, () => connected++);
    try {
      const found = await Promise.all([portOf(db), portOf(db), portOf(db)]);
      assert.deepEqual(found, Array(3).fill(ports()[0]));
      await sql`CREATE TABLE kept (value integer)`.execute(db);
      await eventually(() => connected === 1);
    } finally {
      await listener.stop();
      await db.destroy();
    }
  });

  it('says that it is away where no host takes writes', async () => {
    const down = await freePort();
    const db = open(listed(ports()[1]!, down));
    try {
      await assert.rejects(portOf(db));
      const only = open(listed(ports()[1]!, ports()[1]!));
      await assert.rejects(portOf(only), takesNoWrites);
      await only.destroy();
    } finally {
      await db.destroy();
    }
  });

  it('gives up connections to a server that has become read-only', async () => {
    const db = open(pair.url);
    const readOnly = (value: string) =>
      sql.raw(`ALTER SYSTEM SET default_transaction_read_only = ${value}`).execute(admin);
    const admin = open(pair.urls[0]);
    try {
      assert.equal(await portOf(db), ports()[0]);
      await readOnly('on');
      await sql`SELECT pg_reload_conf()`.execute(admin);
      await eventually(() => sql`INSERT INTO kept VALUES (0)`.execute(db).then(() => false, takesNoWrites));
      // The pool has closed the connections from before the change, which would still answer this read.
      await assert.rejects(sql`SELECT 1`.execute(db), takesNoWrites);
      await sql`SET default_transaction_read_only = off`.execute(admin);
      await sql.raw('ALTER SYSTEM RESET default_transaction_read_only').execute(admin);
      await sql`SELECT pg_reload_conf()`.execute(admin);
      await eventually(() => portOf(db).then((port) => port === ports()[0]));
    } finally {
      await admin.destroy();
      await db.destroy();
    }
  });

  it('is followed to the replica that is promoted, and nothing that was committed is lost', async () => {
    const db = open(pair.url);
    let connected = 0;
    const listener = listen(pair.url, () => connected++);
    try {
      await eventually(() => connected === 1);
      let committed = 0;
      const stopped = new AbortController();
      const writer = (async () => {
        while (!stopped.signal.aborted) {
          const value = committed + 1;
          const isDone = await sql`INSERT INTO kept VALUES (${value})`.execute(db).then(
            () => true,
            () => false,
          );
          if (isDone) committed = value;
          else await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      await eventually(() => committed > 20);
      await pair.promote();
      const before = committed;
      await eventually(() => committed > before + 20);
      stopped.abort();
      await writer;
      assert.equal(await portOf(db), ports()[1]);
      const { rows } = await sql<{ value: number }>`SELECT DISTINCT value FROM kept WHERE value > 0`.execute(db);
      const kept = new Set(rows.map(({ value }) => value));
      for (let value = 1; value <= committed; value += 1) assert.ok(kept.has(value), `${value} is lost`);
      await eventually(() => connected === 2);
      await eventually(async () => {
        await sql`SELECT pg_notify(${CHANNEL}, 'after')`.execute(db);
        return heard.includes('after');
      });
    } finally {
      await listener.stop();
      await db.destroy();
    }
  });
});
