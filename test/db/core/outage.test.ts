import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { isShortOfResources, NoConnectionError, outageOf } from '../../../db/core/outage.js';
import { DatabasePulse, type DatabaseState } from '../../../db/core/pulse.js';
import { eventually } from '../../../harness/timing/eventually.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';

/** A relay of TCP connections. `forgetLast` silently drops all further bytes of the newest one, in both directions. */
async function startForgetfulRelay(to: URL): Promise<{ port: number; forgetLast: () => void; close: () => void }> {
  const pairs: [net.Socket, net.Socket][] = [];
  const server = net.createServer((near) => {
    const far = net.connect(Number(to.port), to.hostname);
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(other);
      from.on('error', () => other.destroy());
    }
    pairs.push([near, far]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    forgetLast() {
      for (const socket of pairs.at(-1)!) socket.unpipe().resume();
    },
    close() {
      server.close();
      for (const socket of pairs.flat()) socket.destroy();
    },
  };
}

interface HoldingRelay {
  port: number;
  /** What clients have sent. */
  sent: () => string;
  /** Keeps what the server answers. Call the result to pass it on. */
  hold: () => () => void;
  close: () => void;
}

/** A relay of TCP connections that can keep the answers of the server. */
async function startHoldingRelay(to: URL): Promise<HoldingRelay> {
  const sockets: net.Socket[] = [];
  const held: (() => void)[] = [];
  let [sent, isHeld] = ['', false];
  const server = net.createServer((near) => {
    const far = net.connect(Number(to.port), to.hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.on('data', (bytes) => {
      sent += bytes.toString('latin1');
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      const pass = (): void => void near.write(bytes);
      if (isHeld) held.push(pass);
      else pass();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    sent: () => sent,
    hold() {
      isHeld = true;
      return () => {
        isHeld = false;
        for (const pass of held.splice(0)) pass();
      };
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const MIB = 2 ** 20;

/** A relay of TCP connections, which passes on 4 MiB a second of what clients send for ten seconds, then everything. */
async function startSlowRelay(to: URL): Promise<{ port: number; close: () => void }> {
  const sockets: net.Socket[] = [];
  const server = net.createServer((near) => {
    const far = net.connect(Number(to.port), to.hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    far.pipe(near);
    let [passed, seconds] = [0, 0];
    near.on('data', (bytes) => {
      far.write(bytes);
      passed += bytes.length;
      if (seconds < 10 && passed > 4 * MIB * (seconds + 1)) near.pause();
    });
    const timer = setInterval(() => {
      if (!near.isPaused()) return;
      seconds += 1;
      near.resume();
    }, 1_000);
    near.on('close', () => clearInterval(timer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe('a database that is away or full', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let role: string;
  let url: string;
  const open: { db: Database; pulse: DatabasePulse }[] = [];

  before(async () => {
    stack = await sharedStack();
    role = `outage_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
    await queryDatabase(stack, `CREATE ROLE ${role} LOGIN PASSWORD 'outage' CREATEDB`);
    const address = new URL(stack.stack.database_url);
    [address.username, address.password] = [role, 'outage'];
    url = address.href;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).flatMap(({ db, pulse }) => [pulse.stop(), db.destroy()]));
  });
  after(() => queryDatabase(stack, `DROP ROLE ${role}`));

  function connect(at = url): { db: Database; pulse: DatabasePulse; states: DatabaseState[] } {
    const states: DatabaseState[] = [];
    const pulse = new DatabasePulse({ url: at, applicationName: role, onChange: (state) => states.push(state) });
    const db = createDatabase({ url: at, pulse, poolMax: 2, applicationName: role, onError: () => undefined });
    open.push({ db, pulse });
    return { db, pulse, states };
  }

  const refusalOf = async (db: Database): Promise<unknown> => {
    try {
      await sql`SELECT 1`.execute(db);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('is told apart from a wrong statement', async () => {
    const { db } = connect();
    await assert.rejects(sql`SELECT 1 / 0`.execute(db), (error) => outageOf(error) === undefined);
    assert.equal(outageOf(Object.assign(new Error('full'), { code: '53100' })), 'no room');
    assert.equal(outageOf(Object.assign(new Error('starting'), { code: '57P03' })), 'no answer');
    assert.equal(isShortOfResources(Object.assign(new Error('memory'), { code: '53200' })), true);
  });

  it('a server that takes no more connections (53300) gives none, and is used when it does', async () => {
    await queryDatabase(stack, `ALTER ROLE ${role} CONNECTION LIMIT 0`);
    const { db, pulse } = connect();
    const refused = await refusalOf(db);
    assert.ok(refused instanceof NoConnectionError, String(refused));
    await eventually(() => pulse.state === 'no answer');
    await queryDatabase(stack, `ALTER ROLE ${role} CONNECTION LIMIT 100`);
    await eventually(() => pulse.state === 'well');
    assert.equal(await refusalOf(db), undefined);
  });

  it('a port at which nobody answers is noticed, and its statements fail at once', async () => {
    const nobody = new URL(url);
    nobody.port = '1';
    const { db, pulse } = connect(nobody.href);
    await eventually(() => pulse.state === 'no answer');
    const startedAt = performance.now();
    assert.equal(outageOf(await refusalOf(db)), 'no answer');
    assert.ok(performance.now() - startedAt < 2_000);
  });

  it('a broken connection fails its statement, and the others go on', async () => {
    const { db, pulse, states } = connect();
    const broken = sql`SELECT pg_sleep(60)`.execute(db);
    // It may fail before the assertion below awaits it.
    broken.catch(() => undefined);
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND query LIKE '%pg_sleep(60)%'`;
    await eventually(async () => (await queryDatabase(stack, end, [role])).length > 0);
    await assert.rejects(broken, (error) => outageOf(error) === 'no answer');
    await eventually(async () => (await refusalOf(db)) === undefined);
    assert.deepEqual([pulse.state, states], ['well', []]);
  });

  it('an answer that was lost on the way is noticed, and a statement that takes long is not ended', async () => {
    const relay = await startForgetfulRelay(new URL(url));
    const near = new URL(url);
    near.port = String(relay.port);
    const { db, pulse } = connect(near.href);
    const [busyKey, lostKey] = [randomInt(2 ** 31), randomInt(2 ** 31)];
    const locks = createDatabase({ url, poolMax: 1, applicationName: `${role}_locks`, onError: () => undefined });
    const lock = (of: Database, key: number) => sql`SELECT pg_advisory_lock(${key}::bigint)`.execute(of);
    const waits = `SELECT pid FROM pg_stat_activity WHERE usename = $1 AND application_name = $1 AND wait_event_type = 'Lock'`;
    const waiting = async (count: number) =>
      eventually(async () => (await queryDatabase(stack, waits, [role])).length === count);
    try {
      for (const key of [busyKey, lostKey]) await lock(locks, key);
      let isOver = false;
      const busy = lock(db, busyKey).finally(() => (isOver = true));
      await waiting(1);
      const lost = lock(db, lostKey);
      lost.catch(() => undefined);
      await waiting(2);
      relay.forgetLast();
      await sql`SELECT pg_advisory_unlock(${lostKey}::bigint)`.execute(locks);
      await assert.rejects(lost, (error) => outageOf(error) === 'no answer');
      assert.equal(await refusalOf(db), undefined, 'the connection is replaced');
      assert.deepEqual([isOver, pulse.state], [false, 'well']);
      await sql`SELECT pg_advisory_unlock(${busyKey}::bigint)`.execute(locks);
      await busy;
    } finally {
      await locks.destroy();
      relay.close();
    }
  });

  it('a statement that is still being sent over a slow link is not taken for a lost one', async () => {
    const relay = await startSlowRelay(new URL(url));
    const near = new URL(url);
    near.port = String(relay.port);
    const { db } = connect(near.href);
    const lengthOf = async (text: string): Promise<unknown> =>
      (await sql<{ length: number }>`SELECT length(${text}::text)`.execute(db)).rows[0]?.length;
    try {
      // The server counts as active from the first message of a new statement on, but as idle until it has received all
      // of a prepared statement.
      assert.equal(await lengthOf('prepared'), 8);
      assert.equal(await lengthOf('x'.repeat(64 * MIB)), 64 * MIB);
    } finally {
      relay.close();
    }
  });

  it('has no room although an answer to an earlier question arrives after the refusal', async () => {
    await queryDatabase(stack, `ALTER ROLE ${role} SET default_transaction_read_only = on`);
    const address = new URL(url);
    const relay = await startHoldingRelay(new URL(url));
    address.port = String(relay.port);
    try {
      const { pulse, states } = connect(address.href);
      const asked = (): number => relay.sent().split('SELECT\0').length - 1;
      await eventually(() => asked() > 0);
      const release = relay.hold();
      const before = asked();
      await eventually(() => asked() > before);
      pulse.reportError(Object.assign(new Error('full'), { code: '53100' }));
      assert.equal(pulse.state, 'no room');
      release();
      await eventually(() => relay.sent().includes('transaction_read_only'));
      assert.deepEqual(states, ['no room']);
    } finally {
      await queryDatabase(stack, `ALTER ROLE ${role} RESET default_transaction_read_only`);
      relay.close();
    }
  });

  it('a read-only server has no room until it takes changes again', async () => {
    const { db, pulse } = connect();
    await sql`SELECT 1`.execute(db);
    await queryDatabase(stack, `ALTER ROLE ${role} SET default_transaction_read_only = on`);
    const readOnly = connect();
    try {
      const name = sql.table(`t_${role}`);
      await assert.rejects(
        sql`CREATE TEMP TABLE ${name} AS SELECT 1`
          .execute(readOnly.db)
          .then(() => sql`CREATE TABLE ${name} ()`.execute(readOnly.db)),
        (error) => outageOf(error) === 'no room',
      );
      await eventually(() => readOnly.pulse.state === 'no room');
      assert.equal(await refusalOf(readOnly.db), undefined, 'reads are answered');
      assert.equal(pulse.state, 'well');
    } finally {
      await queryDatabase(stack, `ALTER ROLE ${role} RESET default_transaction_read_only`);
    }
    assert.equal(readOnly.pulse.state, 'no room');
    // A session keeps the default with which it has begun.
    await queryDatabase(stack, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await eventually(() => readOnly.pulse.state === 'well');
    await eventually(async () => (await refusalOf(readOnly.db)) === undefined);
    await sql`CREATE TEMP TABLE ${sql.table(`w_${role}`)} () ON COMMIT DROP`.execute(readOnly.db);
  });
});
