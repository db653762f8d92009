import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Agent, fetch } from 'undici';
import { startHttpServer, type HttpServer } from '../../cli/sandbox/http-server.js';
import { readingEvents } from '../../outgoing/read-events.js';

describe('events that are taken from an answer', function () {
  this.timeout(120_000);
  const agent = new Agent();
  let server: HttpServer;
  let serve: (response: ServerResponse) => void;

  before(async () => {
    server = await startHttpServer((_request, response) => serve(response));
  });
  after(async () => {
    await agent.destroy();
    await server.close();
  });

  /** Returns the text that `readingEvents` took, and the rest of the body. */
  async function ask(
    status: number,
    headers: Record<string, string>,
    body: string | Buffer,
  ): Promise<[string, string]> {
    serve = (response) => response.writeHead(status, headers).end(body);
    let taken = '';
    const dispatcher = readingEvents(agent, (piece) => (taken += Buffer.from(piece).toString()));
    const response = await fetch(server.url, { dispatcher });
    const left = await response.text();
    return [taken, left];
  }

  it('are not in its body, which ends when it ends', async () => {
    serve = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write('data: a\n\n');
      setTimeout(() => response.end('data: b\n\n'), 50);
    };
    let taken = '';
    const dispatcher = readingEvents(agent, (piece) => (taken += Buffer.from(piece).toString()));
    const response = await fetch(server.url, { dispatcher });
    assert.equal(await response.text(), '');
    assert.equal(taken, 'data: a\n\ndata: b\n\n');
  });

  it('make reading the body fail if the connection breaks', async () => {
    serve = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: a\n\n');
      setTimeout(() => response.socket!.resetAndDestroy(), 50);
    };
    const response = await fetch(server.url, { dispatcher: readingEvents(agent, () => undefined) });
    await assert.rejects(response.text());
  });

  it('stay in an answer that has failed, is compressed, or has another type', async () => {
    const type = { 'content-type': 'text/event-stream' };
    assert.deepEqual(await ask(500, type, 'data: a\n\n'), ['', 'data: a\n\n']);
    assert.deepEqual(await ask(200, { ...type, 'content-encoding': 'gzip' }, gzipSync('data: a\n\n')), [
      '',
      'data: a\n\n',
    ]);
    assert.deepEqual(await ask(200, { 'content-type': 'application/json' }, '{}'), ['', '{}']);
    assert.deepEqual(await ask(200, {}, 'data: a\n\n'), ['', 'data: a\n\n']);
  });
});
