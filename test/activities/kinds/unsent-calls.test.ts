// A claimed call that was not sent is released in the ledger, also if the database is away at that moment.
import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { openToolClaim } from '../../../activities/kinds/agent/tool-claim.js';
import type { ToolWork } from '../../../activities/kinds/agent/tool-work.js';
import { createHttpRunner } from '../../../activities/kinds/http/http.js';
import { createMcpRunner } from '../../../activities/kinds/mcp/mcp.js';
import type { CallWith } from '../../../activities/connections/use-connection.js';
import { handedBack } from '../../../activities/node/failures.js';
import type { NodeDeps, NodeTask } from '../../../activities/node/node-step.js';
import type { Database } from '../../../db/core/client.js';
import { createMasker } from '../../../graph/mask.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import { createLogger } from '../../../telemetry/logger.js';
import { playedDatabase } from '../../support/played-database.js';

const OUTAGES = 2;
const logger = createLogger('worker', 'silent');
const masker = createMasker([]);
const unreachable = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));

describe('a claimed call that was not sent', () => {
  /** Makes the call on a database that is away for the first releases. Returns how often the call was released. */
  async function releases(make: (db: Database, task: NodeTask) => Promise<unknown>, data: object = {}) {
    let outages = OUTAGES;
    let count = 0;
    const db = playedDatabase(({ sql }) => {
      if (sql.includes('INSERT INTO provider_calls')) return { rows: [{ attempts: 1, crashes: 0, hasReaders: false }] };
      if (!sql.includes("SET state = 'refused'")) return { rows: [] };
      if (outages-- > 0) throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      count += 1;
      return { rows: [] };
    });
    const { signal } = new AbortController();
    const memory = { bytes: 0, resize: () => undefined };
    const run = { projectId: 1, masker };
    const task = { runId: 'r', path: '', nodeId: 'n', run, signal, memory, node: { data } } as unknown as NodeTask;
    const ended = await new MockActivityEnvironment().run(() =>
      make(db, task).then(
        () => 'sent',
        (error: { code?: string; type?: string }) => error.code ?? error.type,
      ),
    );
    return [ended, count];
  }

  const contexts = { loadValues: async () => ({ input: {}, results: new Map() }) };
  const connections = {
    call: (_task: unknown, _id: unknown, call: (using: CallWith) => unknown) =>
      call({ credential: { secretTexts: [] } as unknown as CallWith['credential'], hide: masker, masker }),
  };

  it('by an HTTP node is released', async () => {
    const http = (send: () => Promise<unknown>) => (db: Database, task: NodeTask) => {
      const deps = { db, logger, contexts, connections, client: { send }, files: { maxBytes: 1 } };
      return createHttpRunner(deps as unknown as Parameters<typeof createHttpRunner>[0]).run(task);
    };
    const data = { url: 'http://shop.test/orders', method: 'POST', body: {} };
    assert.deepEqual(await releases(http(unreachable), data), ['network_error', 1]);
    assert.deepEqual(
      await releases(
        http(() => Promise.reject(handedBack())),
        data,
      ),
      ['handed_back', 1],
    );
    const refused = { status: 401, headers: {}, setCookie: [], body: Buffer.from('no') };
    assert.deepEqual(
      await releases(
        http(() => Promise.resolve(refused)),
        data,
      ),
      ['http_status', 1],
    );
  });

  it('by an MCP node is released', async () => {
    const callTool = () => Promise.reject(new McpError('mcp_unreachable', 'It is away.', true));
    const sessions = {
      use: (_run: unknown, _server: unknown, _signal: unknown, act: (session: object) => unknown) => act({ callTool }),
    };
    const bare = {
      call: (_task: unknown, _id: unknown, call: (using: CallWith) => unknown) =>
        call({ credential: undefined, hide: masker, masker }),
    };
    const data = { endpoint_url: 'https://files.test/mcp', tool_name: 'order' };
    const mcp = (db: Database, task: NodeTask) => {
      const deps = { db, logger, contexts, connections: bare, sessions, files: {} };
      return createMcpRunner(deps as unknown as Parameters<typeof createMcpRunner>[0]).run(task);
    };
    assert.deepEqual(await releases(mcp, data), ['mcp_unreachable', 1]);
  });

  const work = { turn: 0, call: { ordinal: 0, serverLabel: 'files', toolName: 'order' } } as unknown as ToolWork;

  it('by an agent is released, as is one that may be repeated', async () => {
    const claimOf = (db: Database, task: NodeTask, mayRepeat: boolean) =>
      openToolClaim({ db, node: { logger } as NodeDeps }, task, { ...work, mayRepeat });
    const unsent = async (db: Database, task: NodeTask) =>
      (await claimOf(db, task, false)).send(unreachable, () => true);
    assert.deepEqual(await releases(unsent), ['ECONNREFUSED', 1]);
    const repeated = async (db: Database, task: NodeTask) => {
      const claim = await claimOf(db, task, true);
      await claim.send(unreachable, () => false).catch(() => undefined);
      await claim.release();
    };
    assert.deepEqual(await releases(repeated), ['sent', 1]);
  });
});
