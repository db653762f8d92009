import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { checkNamedPorts, startOnPorts } from '../../../cli/embedded/stack-ports.js';

describe('the ports of a stack', () => {
  const listening: Server[] = [];
  const picked = { port: 0, host: '127.0.0.1', variable: 'PORT' };

  afterEach(async () => {
    for (const server of listening.splice(0)) {
      server.close();
      await once(server, 'close');
    }
  });

  /** Listens on the port before the child does, as another process may. */
  async function take(port: number): Promise<number> {
    const server = createServer().listen(port, '127.0.0.1');
    listening.push(server);
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  }

  it('are picked anew when another process has taken one before the child listens on it', async () => {
    const tried: number[][] = [];
    const ports = await startOnPorts([picked, { ...picked, variable: 'TEMPORAL_UI_PORT' }], async (first, second) => {
      tried.push([first, second]);
      if (tried.length > 1) return [first, second];
      await take(second);
      throw new Error('address already in use');
    });
    assert.equal(tried.length, 2);
    assert.deepEqual(ports, tried[1]);
    assert.notEqual(ports[1], tried[0]![1]);
  });

  it('are given up when they are lost again and again', async () => {
    let starts = 0;
    const start = startOnPorts([picked], async (port) => {
      starts += 1;
      await take(port);
      throw new Error('address already in use');
    });
    await assert.rejects(start, /address already in use/);
    assert.equal(starts, 3);
  });

  it('are not picked anew when a start fails for another reason', async () => {
    let starts = 0;
    const start = startOnPorts([picked], async () => {
      starts += 1;
      throw new Error('no such table');
    });
    await assert.rejects(start, /no such table/);
    assert.equal(starts, 1);
  });

  it('are never replaced if they are configured: a port in use is an error before anything starts', async () => {
    const named = { ...picked, port: await take(0) };
    const sentence = `Port ${named.port} is in use: set PORT to a free port, or to 0 to have one picked.`;
    const ports = { api: named, workerMetrics: picked, postgres: undefined, temporal: undefined };
    await assert.rejects(checkNamedPorts(ports), { message: sentence });
    await assert.rejects(
      startOnPorts([named], () => assert.fail('it started')),
      { message: sentence },
    );
  });
});
