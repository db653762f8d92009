import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { startHttpServer, type HttpServer } from '../../cli/sandbox/http-server.js';
import { pacedConnector } from '../../outgoing/paced-reads.js';

const PIECES = 120;
/** The longest pause of paced reads. */
const PAUSE_MS = 120;

describe('an answer that comes in many small pieces', function () {
  this.timeout(120_000);
  let server: HttpServer;
  let agent: Agent;
  let socket: Socket;
  let serve: (response: ServerResponse) => Promise<void>;

  before(async () => {
    server = await startHttpServer((_request, response) => serve(response));
    const connect = pacedConnector();
    agent = new Agent({
      connect: (options, callback) =>
        connect(options, (...[error, connected]) => {
          if (error !== null) return callback(error, null);
          socket = connected;
          callback(null, connected);
        }),
    });
  });
  after(async () => {
    await agent.destroy();
    await server.close();
  });

  const words = (): string[] => Array.from({ length: PIECES }, (_, index) => `word ${index} `);
  const saySlowly = async (response: ServerResponse): Promise<void> => {
    for (const word of words()) {
      response.write(word);
      await pause(4);
    }
  };

  /** `reads`: the number of reads of the connection that brought pieces. Since Node.js 26, one read may bring many. */
  async function read(): Promise<{ text: string; reads: number }> {
    const response = await fetch(server.url, { dispatcher: agent });
    const pieces: string[] = [];
    const reads = new Set<number>();
    for await (const piece of response.body!) {
      pieces.push(Buffer.from(piece as Uint8Array).toString());
      reads.add(socket.bytesRead);
    }
    return { text: pieces.join(''), reads: reads.size };
  }

  for (const connection of ['keep-alive', 'close']) {
    it(`is whole, in few reads, on a connection with ${connection}`, async () => {
      serve = async (response) => {
        response.setHeader('connection', connection);
        await saySlowly(response);
        response.end();
      };
      const { text, reads } = await read();
      assert.equal(text, words().join(''));
      assert.ok(reads < PIECES / 2, `${reads} reads`);
    });

    it(`breaks off where it is reset, on a connection with ${connection}`, async () => {
      serve = async (response) => {
        response.setHeader('connection', connection);
        await saySlowly(response);
        response.socket!.resetAndDestroy();
      };
      await assert.rejects(read());
    });
  }

  it('delays no other answer on its connection', async () => {
    serve = async (response) => {
      await saySlowly(response);
      response.end();
    };
    await read();
    serve = async (response) => {
      for (const part of ['a', 'b', 'c']) {
        response.write(part);
        await pause(2);
      }
      response.end();
    };
    const tookMs: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      const startedAt = performance.now();
      assert.equal((await read()).text, 'abc');
      tookMs.push(performance.now() - startedAt);
    }
    // An answer that follows at once may arrive while the last read waits, and a busy machine delays some.
    assert.ok(Math.min(...tookMs) < PAUSE_MS / 2, tookMs.join());
  });

  it('is not delayed where it has few pieces or large ones', async () => {
    serve = async (response) => {
      for (const part of ['a', 'b', 'c']) {
        response.write(part);
        await pause(2);
      }
      response.end(Buffer.alloc(8 * 1024 * 1024, 'x'));
    };
    const startedAt = performance.now();
    assert.equal((await read()).text.length, 3 + 8 * 1024 * 1024);
    assert.ok(performance.now() - startedAt < 5_000, `${performance.now() - startedAt} ms`);
  });
});
