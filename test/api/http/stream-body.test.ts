import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import Koa from 'koa';
import type { AppContext } from '../../../api/http/app-state.js';
import { bodyTooSlow } from '../../../api/http/errors.js';
import { closeServer, listen, type ListeningServer } from '../../../api/http/server.js';
import { openBody } from '../../../api/http/stream-body.js';
import { eventually } from '../../../harness/timing/eventually.js';

describe('a body that is taken as a stream', () => {
  let server: ListeningServer;
  const bodies: Readable[] = [];

  before(async () => {
    const app = new Koa();
    app.use((ctx) => {
      bodies.push(openBody(ctx as unknown as AppContext, 1_000_000));
      ctx.status = 400;
      ctx.body = 'refused';
    });
    const callback = app.callback();
    server = await listen((request, response) => void callback(request, response), { host: '127.0.0.1', port: 0 });
  });
  after(() => closeServer(server));

  it('is destroyed with the answer if nothing reads it, and an error of it does not end the process', async () => {
    for (const body of ['', 'abc', 'x'.repeat(500_000)]) {
      const response = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body });
      assert.deepEqual([response.status, await response.text()], [400, 'refused']);
    }
    await eventually(() => bodies.every((body) => body.destroyed));
    // An `error` event without a listener would end the process.
    for (const body of bodies) body.emit('error', bodyTooSlow());
    assert.equal(bodies.length, 3);
  });
});
