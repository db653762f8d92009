import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createLogger } from '../../../telemetry/logger.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import { recordRetried } from '../../../activities/node/record.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { createMasker } from '../../../graph/mask.js';
import { NodeError } from '../../../graph/node-error.js';

const failure = new NodeError('http_status', 'It said no.');
const claimed = { isClaimed: true };
const logger = createLogger('test', 'silent');

function task(): NodeTask {
  const run = { masker: createMasker([]) };
  return {
    runId: crypto.randomUUID(),
    path: '',
    nodeId: 'n',
    run,
    attempt: 1,
    startedAt: performance.now(),
  } as unknown as NodeTask;
}

function databaseAt(port: number): Database {
  const url = `postgres://nobody@127.0.0.1:${port}/nothing`;
  return createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
}

describe('recording an attempt that is retried', function () {
  this.timeout(120_000);

  it('lets the retry go on when the database is gone', async () => {
    const db = databaseAt(1);
    await recordRetried({ db, logger }, claimed, task(), failure);
    await db.destroy();
  });

  it('lets the retry go on after two seconds when the database does not answer', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const db = databaseAt((silent.address() as AddressInfo).port);
    const startedAt = performance.now();
    const [tookMs, timerMs] = await Promise.all(
      [recordRetried({ db, logger }, claimed, task(), failure), pause(2_000)].map((ends) =>
        ends.then(() => performance.now() - startedAt),
      ),
    );
    // A busy machine delays timers, too.
    assert.ok(tookMs! >= 1_900 && tookMs! < timerMs! * 2, `${tookMs} ms, a timer ${timerMs} ms`);
    for (const socket of sockets) socket.destroy();
    await db.destroy();
    silent.close();
  });

  it('asks no database for a node without a claim', async () => {
    const noDatabase = { db: undefined as unknown as Database, logger };
    await recordRetried(noDatabase, { isClaimed: false }, task(), failure);
  });
});
