import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import Koa from 'koa';
import { answerDeadline } from '../../../api/http/middleware/answer-deadline.js';
import { closeServer, listen, type ConnectionLimits, type ListeningServer } from '../../../api/http/server.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { createGate } from '../../../harness/timing/gate.js';
import { head, openRaw, statusesIn, type RawConnection } from '../../support/raw-http.js';

const GET = head('GET / HTTP/1.1', 'Host: x');
const BROKEN = 'broken\r\n\r\n';
const LIMITS: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 10_000,
  checkingIntervalMs: 20,
  maxConnections: 100,
  maxRequestsPerConnection: 1000,
};

describe('the listening server', () => {
  const servers: ListeningServer[] = [];
  const connections: RawConnection[] = [];

  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close();
    await Promise.all(servers.splice(0).map(closeServer));
  });

  const start = async (listener: RequestListener, limits: Partial<ConnectionLimits> = {}) => {
    const server = await listen(listener, { host: '127.0.0.1', port: 0 }, { ...LIMITS, ...limits });
    servers.push(server);
    return async (): Promise<RawConnection> => {
      const connection = await openRaw(`http://127.0.0.1:${server.port}`);
      connections.push(connection);
      return connection;
    };
  };
  const hello: RequestListener = (_request, response) => response.end('hello');

  describe('slow clients', () => {
    it('a connection without data and one whose headers do not end get a 408 and are closed', async () => {
      const connect = await start(hello, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
      for (const piece of ['', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ']) {
        const connection = await connect();
        connection.send(piece);
        const answer = await connection.ended();
        assert.deepEqual(statusesIn(answer), [408]);
        assert.match(answer, /"code":"request_timeout"/);
      }
    });

    it('a body that does not end is a 408', async () => {
      const connect = await start((request) => request.resume(), { headersTimeoutMs: 100, requestTimeoutMs: 200 });
      const connection = await connect();
      connection.send(head('POST / HTTP/1.1', 'Host: x', 'Content-Length: 10'), 'x');
      assert.deepEqual(statusesIn(await connection.ended()), [408]);
    });

    it('an idle connection is closed after the keep-alive time-out', async () => {
      const connect = await start(hello, { keepAliveTimeoutMs: 50 });
      const connection = await connect();
      connection.send(GET);
      assert.deepEqual(statusesIn(await connection.ended()), [200]);
    });

    it('an answer that the client does not read is aborted, one that it reads is complete', async () => {
      const sizeBytes = 20e6;
      let closed = 0;
      const connectTo = async (graceMs: number): Promise<RawConnection> => {
        const app = new Koa();
        app.use(answerDeadline({ graceMs, bytesPerSecond: 1e9 })).use((ctx) => (ctx.body = 'x'.repeat(sizeBytes)));
        const answer = app.callback();
        const connect = await start((request, response) => {
          response.once('close', () => (closed += 1));
          void answer(request, response);
        });
        return connect();
      };
      const [slow, quick] = [await connectTo(500), await connectTo(60_000)];
      slow.socket.pause();
      slow.send(GET);
      await eventually(() => closed === 1);
      slow.socket.resume();
      assert.ok((await slow.ended()).length < sizeBytes);
      quick.send(GET);
      await eventually(() => quick.received().length > sizeBytes, { timeoutMs: 25_000 });
    });

    it('a connection above the limit replaces the one that has had no request for the longest time', async () => {
      const connect = await start(hello, { maxConnections: 3 });
      const [silent, ...others] = [await connect(), await connect(), await connect()];
      silent.send('GET / HTTP/1.1\r\n');
      for (const connection of [others[0], await connect()]) {
        connection.send(GET);
        await eventually(() => statusesIn(connection.received())[0] === 200);
      }
      await silent.ended();
      others[0].send(GET);
      await eventually(() => statusesIn(others[0].received()).length === 2);
    });

    it('connections with a request in progress stay open, and a connection above the limit is closed', async () => {
      const waiting: ServerResponse[] = [];
      const connect = await start((_request, response) => waiting.push(response), { maxConnections: 2 });
      const busy = [await connect(), await connect()];
      for (const connection of busy) connection.send(GET);
      await eventually(() => waiting.length === 2);
      assert.equal(await (await connect()).ended(), '');
      for (const response of waiting) response.end('done');
      for (const connection of busy) await eventually(() => statusesIn(connection.received())[0] === 200);
    });

    it('a connection stays open while one of its pipelined requests is still to be answered', async () => {
      const waiting: ServerResponse[] = [];
      const connect = await start((_request, response) => waiting.push(response), { maxConnections: 1 });
      const busy = await connect();
      busy.send(GET, GET);
      await eventually(() => waiting.length === 2);
      waiting[0]!.end('first');
      await eventually(() => busy.received().endsWith('first'));
      assert.equal(await (await connect()).ended(), '');
      waiting[1]!.end('second');
      await eventually(() => busy.received().endsWith('second'));
    });
  });

  describe('a broken request behind another one on the same connection', () => {
    it('gets no answer while the earlier one waits for its own', async () => {
      const waiting: ServerResponse[] = [];
      const connect = await start((_request, response) => waiting.push(response));
      const connection = await connect();
      connection.send(GET, BROKEN);
      assert.equal(await connection.ended(), '');
      assert.equal(waiting.length, 1);
    });

    it('gets no answer in front of that of the earlier one if its own body is broken', async () => {
      const waiting: ServerResponse[] = [];
      const connect = await start((_request, response) => waiting.push(response));
      const connection = await connect();
      connection.send(GET, head('POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked'));
      await eventually(() => waiting.length === 2);
      connection.send(BROKEN);
      assert.equal(await connection.ended(), '');
    });

    it('gets no answer within an answer that has begun', async () => {
      const connect = await start((_request, response) => void response.write('begun'));
      const connection = await connect();
      connection.send(GET);
      await eventually(() => connection.received().includes('begun'));
      connection.send(BROKEN);
      assert.deepEqual(statusesIn(await connection.ended()), [200]);
    });

    it('gets a 400 of its own after a complete answer', async () => {
      const connect = await start(hello);
      const connection = await connect();
      connection.send(GET);
      await eventually(() => connection.received().endsWith('hello'));
      connection.send(BROKEN);
      assert.deepEqual(statusesIn(await connection.ended()), [200, 400]);
    });
  });

  it('a client that takes its answer slowly gets all of it while the server closes', async () => {
    const sizeBytes = 20e6;
    const isComplete = createGate();
    const connect = await start((_request, response) => {
      response.end('x'.repeat(sizeBytes));
      isComplete.open();
    });
    const slow = await connect();
    slow.socket.pause();
    slow.send(GET);
    await isComplete.opened;
    const swept = createGate();
    const [server] = servers as [ListeningServer];
    const closing = closeServer({
      ...server,
      closeIdle() {
        server.closeIdle();
        swept.open();
      },
    });
    await swept.opened;
    slow.socket.resume();
    assert.ok((await slow.ended()).length > sizeBytes);
    await closing;
  });

  it('of pipelined requests, only as many as the limit of the connection are handled', async () => {
    const waiting: ServerResponse[] = [];
    const connect = await start((_request, response) => waiting.push(response), { maxRequestsPerConnection: 50 });
    const connection = await connect();
    connection.send(GET.repeat(5000));
    await eventually(() => waiting.length === 50);
    for (const response of waiting) response.end();
    await eventually(() => statusesIn(connection.received()).length >= 50);
    assert.equal(waiting.length, 50);
  });
});
