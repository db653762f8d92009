import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import v8 from 'node:v8';
import vm from 'node:vm';
import { collectBody, type BodyPace } from '../../../api/http/collect-body.js';
import { ApiError } from '../../../api/http/errors.js';
import { closeServer, listen, type ListeningServer } from '../../../api/http/server.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { head, openRaw, statusesIn, type RawConnection } from '../../support/raw-http.js';

const PATIENT: BodyPace = { silenceMs: 60_000, graceMs: 60_000, bytesPerSecond: 1 };
v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

const QUICK = { timeoutMs: 10_000, intervalMs: 20 };

describe('bodies that are received', function () {
  this.timeout(120_000);
  const servers: ListeningServer[] = [];
  const connections: RawConnection[] = [];

  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close();
    await Promise.all(servers.splice(0).map(closeServer));
  });

  async function start(memory: ByteBudget, { limitBytes = 1_000_000, pace = PATIENT } = {}) {
    const server = await listen(
      (request, response) => {
        const lease = memory.lease('user:1');
        collectBody(request, { limitBytes, lease, pace })
          .then((bytes) => response.end(`${bytes.length} bytes`))
          .catch((error: unknown) => {
            response.statusCode = error instanceof ApiError ? error.status : 503;
            response.end();
          })
          .finally(() => lease.end());
      },
      { host: '127.0.0.1', port: 0 },
    );
    servers.push(server);
    return async (): Promise<RawConnection> => {
      const connection = await openRaw(`http://127.0.0.1:${server.port}`);
      connections.push(connection);
      return connection;
    };
  }
  const declared = (bytes: number) =>
    head('POST / HTTP/1.1', 'Host: x', `Content-Length: ${bytes}`, 'Connection: close');
  const chunked = head('POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', 'Connection: close');

  it('that end early are no mistake in JSON', async () => {
    const request = new Readable({ read: () => undefined }) as IncomingMessage;
    const lease = new ByteBudget({ totalBytes: 1_000, uncountedBytes: 0 }).lease('user:1');
    const collected = collectBody(request, { limitBytes: 1_000, lease });
    request.destroy(new Error('reset'));
    await assert.rejects(collected, { status: 400, code: 'parse_error', message: 'The body ended too early.' });
  });

  it('take memory for what has arrived, not for what was announced', async () => {
    const memory = new ByteBudget({ totalBytes: 10_000_000, uncountedBytes: 0 });
    const connect = await start(memory);
    const [announced, open] = [await connect(), await connect()];
    announced.send(declared(900_000), 'x'.repeat(1_000));
    open.send(chunked, '3e8\r\n', 'x'.repeat(1_000), '\r\n');
    await eventually(() => memory.heldBytes === 2 * 3 * 1_000, QUICK);
    announced.send('x'.repeat(899_000));
    assert.match(await announced.ended(), /900000 bytes/);
    open.send('0\r\n\r\n');
    assert.match(await open.ended(), /1000 bytes/);
    assert.equal(memory.heldBytes, 0);
  });

  it('are given up with a 408 when nothing arrives, or too little for their time', async () => {
    const memory = new ByteBudget({ totalBytes: 10_000_000, uncountedBytes: 0 });
    const silent = await (await start(memory, { pace: { ...PATIENT, silenceMs: 100 } }))();
    silent.send(declared(100), 'x');
    assert.deepEqual(statusesIn(await silent.ended()), [408]);
    const dripping = await (await start(memory, { pace: { ...PATIENT, graceMs: 100, bytesPerSecond: 1_000_000 } }))();
    dripping.send(declared(100), 'x');
    const drip = setInterval(() => dripping.send('x'), 50);
    assert.deepEqual(statusesIn(await dripping.ended()), [408]);
    clearInterval(drip);
    assert.equal(memory.heldBytes, 0);
  });

  it('are not received while they wait for memory, and this wait is no reason for a 408', async () => {
    const memory = new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 });
    const other = memory.lease('user:2');
    assert.equal(other.resize(990_000), undefined);
    const pace = { silenceMs: 500, graceMs: 500, bytesPerSecond: 1_000_000 };
    const waiting = await (await start(memory, { pace }))();
    waiting.send(declared(100_000), 'x'.repeat(100_000));
    await eventually(() => memory.waiting === 1, QUICK);
    // A later body that is silent, but does not wait, is given up: the pace of the waiting body was checked before.
    const plenty = new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 });
    const silent = await (await start(plenty, { pace }))();
    silent.send(declared(100), 'x');
    assert.deepEqual(statusesIn(await silent.ended()), [408]);
    other.end();
    assert.match(await waiting.ended(), /100000 bytes/);
  });

  it('are a 503 where memory is not free in time, and a 413 above their limit', async () => {
    const memory = new ByteBudget({ totalBytes: 1_000, uncountedBytes: 0, patienceMs: 50 });
    assert.equal(memory.lease('user:2').resize(1_000), undefined);
    const refused = await (await start(memory))();
    refused.send(declared(1_000), 'x'.repeat(1_000));
    assert.deepEqual(statusesIn(await refused.ended()), [503]);
    const plenty = new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 });
    const long = await (await start(plenty, { limitBytes: 10 }))();
    long.send(chunked, 'b\r\n', 'x'.repeat(11), '\r\n0\r\n\r\n');
    assert.deepEqual(statusesIn(await long.ended()), [413]);
  });

  it('that come in chunks of one byte take no more memory than others', async () => {
    const memory = new ByteBudget({ totalBytes: 10_000_000, uncountedBytes: 0 });
    const connection = await (await start(memory))();
    const text = '1\r\nx\r\n'.repeat(100_000);
    const before = memoryInUse();
    connection.send(chunked, text);
    await eventually(() => memory.heldBytes === 3 * 100_000);
    const grown = memoryInUse() - before;
    // A buffer for each chunk would have a hundred bytes and more.
    assert.ok(grown < 5_000_000, `${grown} bytes more`);
    connection.send('0\r\n\r\n');
    assert.match(await connection.ended(), /100000 bytes/);
  });
});

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
