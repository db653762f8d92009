// Tests the sender of webhook events with a fake database, and with receivers that delay their answers or send unusual
// headers.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Counter, Histogram } from 'prom-client';
import { attemptDelivery } from '../../../api/webhooks/attempt-delivery.js';
import type { WebhookDeps } from '../../../api/webhooks/deps.js';
import { startWebhookDelivery } from '../../../api/webhooks/webhook-delivery.js';
import { parseEnvironment } from '../../../config/environment.js';
import type { ClaimedDelivery } from '../../../db/webhooks/webhook-deliveries-repository.js';
import { createOutgoingClient } from '../../../outgoing/outgoing-client.js';
import { createLogger } from '../../../telemetry/logger.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { playedDatabase } from '../../support/played-database.js';
import { startRawServer, type RawServer } from '../../support/raw-server.js';

const KEY = Buffer.alloc(32, 1).toString('base64');

describe('the sender of webhook events', function () {
  this.timeout(120_000);
  let server: RawServer;
  let answer: (socket: Socket, path: string) => void;

  before(async () => {
    server = await startRawServer((socket, request) => answer(socket, request.split(' ')[1]!));
  });
  after(() => server.close());

  function depsWith(db: WebhookDeps['db']): WebhookDeps {
    const { webhookRetrySeconds } = parseEnvironment({});
    return {
      db,
      secretBox: { open: () => `whsec_${KEY}` } as unknown as WebhookDeps['secretBox'],
      logger: createLogger('test', 'silent'),
      metrics: {
        webhookAttempts: new Counter({ name: 'attempts', help: 'x', labelNames: ['outcome'], registers: [] }),
        webhookAttemptSeconds: new Histogram({ name: 'seconds', help: 'x', registers: [] }),
      },
      config: { addressRules: { allowPrivateNetwork: true, blockedNetworks: [] }, webhookRetrySeconds },
    };
  }

  const dueEvent = (projectId = 1, path = '/'): ClaimedDelivery => ({
    id: randomUUID(),
    run_id: randomUUID(),
    project_id: projectId,
    type: 'workflow_run.started',
    payload: '{}',
    attempts: 1,
    is_sent_again: false,
    is_active: true,
    webhook_url: `${server.url}${path}`,
    webhook_secret_enc: Buffer.from('sealed'),
    webhook_previous_secret_enc: null,
  });

  it('makes at most 200 attempts at once, at most 8 of a project, however many events are due', async () => {
    const held: Socket[] = [];
    let received = 0;
    answer = (socket) => {
      received += 1;
      held.push(socket);
    };
    const claims: { known: number[]; perProject: unknown; total: unknown }[] = [];
    let nextProject = 0;
    const db = playedDatabase(({ sql, parameters }) => {
      if (!sql.includes('WITH due AS')) return { rows: [] };
      const [, known, perProject, , , total] = parameters;
      claims.push({ known: known as number[], perProject, total });
      return { rows: Array.from({ length: total as number }, () => dueEvent((nextProject += 1))) };
    });
    const sender = startWebhookDelivery(depsWith(db));
    try {
      await eventually(() => received === 200);
      // One answer allows one more attempt, for which the sender claims an event.
      const before = claims.length;
      held.shift()!.end('HTTP/1.1 204 No Content\r\n\r\n');
      await eventually(() => received === 201 && claims.length > before);
      assert.deepEqual(
        claims.map(({ total }) => total),
        [200, ...claims.slice(1).map(() => 1)],
      );
      assert.equal(claims.at(-1)!.known.length, 199, 'it says which projects have attempts under way');
      assert.deepEqual(new Set(claims.map(({ perProject }) => perProject)), new Set([8]));
      assert.equal(received - 1, 200);
    } finally {
      const stopped = sender.stop();
      for (const socket of held) socket.destroy();
      await stopped;
    }
  });

  it('reads answers whose headers are in UTF-8: it waits as long as they ask, and follows none', async () => {
    const written: unknown[][] = [];
    const db = playedDatabase(({ parameters }) => {
      written.push([...parameters]);
      return { rows: [] };
    });
    const client = createOutgoingClient({ allowPrivateNetwork: true });
    const words = Buffer.from('Köln 東京').toString('latin1');
    const paths: string[] = [];
    answer = (socket, path) => {
      paths.push(path);
      const head =
        path === '/moved'
          ? `302 Found\r\nLocation: /${words}`
          : `503 Service Unavailable\r\nX-City: ${words}\r\nRetry-After: 7200`;
      socket.write(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`, 'latin1');
    };
    try {
      const { signal } = new AbortController();
      for (const path of ['/later', '/moved']) await attemptDelivery(depsWith(db), client, dueEvent(1, path), signal);
      assert.deepEqual(paths, ['/later', '/moved']);
      const [later, moved] = written as [unknown[], unknown[]];
      assert.ok(later.includes(503) && moved.includes(302), JSON.stringify(written));
      const delays = [later, moved].map(([seconds]) => Number(seconds));
      assert.ok(delays[0]! >= 7_200 && delays[1]! < 7_200, JSON.stringify(delays));
    } finally {
      await client.close();
    }
  });
});
