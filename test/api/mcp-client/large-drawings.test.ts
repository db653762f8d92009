import assert from 'node:assert/strict';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
} from 'kysely';
import type { McpClientDeps } from '../../../api/mcp-client/deps.js';
import { mcpToolsRoutes } from '../../../api/mcp-client/routes.js';
import type { Tables } from '../../../db/core/tables.js';
import { PARSED_COPIES } from '../../../memory/json-copies.js';
import { ByteBudget } from '../../../memory/byte-budget.js';

const BYTES = 9_000_000;
const PROJECT = 5;

/**
 * Answers every query with the same row: an empty drawing whose column `bytes` says that it is large, and the role of
 * an editor.
 */
class OneDrawing extends DummyDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    const drawing = { id: 3, project_id: PROJECT, version: 1, document: { nodes: [] }, secrets_enc: null };
    const row = { ...drawing, bytes: BYTES, role: 'editor', projectId: PROJECT };
    const executeQuery = (_query: CompiledQuery) => Promise.resolve({ rows: [row] as never[] });
    return Promise.resolve({ executeQuery, streamQuery: () => assert.fail('no statement is streamed') });
  }
}

describe('the tools of a server of a stored drawing', () => {
  it('wait for their turn and for memory before the drawing is read', async () => {
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new OneDrawing(),
        createIntrospector: (of) => new PostgresIntrospector(of),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const { signal } = new AbortController();
    const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 });
    const turns: unknown[] = [];
    const heavyWork = {
      run: ({ projectId }: { projectId: number }, sizeBytes: number, work: () => unknown) => {
        turns.push([projectId, sizeBytes, memory.heldBytes]);
        return work();
      },
    };
    const body = { endpoint_url: 'https://a.example.com/', workflow_id: 3, node_id: 'n' };
    const request = { deps: { db, memory, heavyWork } as unknown as McpClientDeps, caller: { userId: 7 }, body };
    const context = { ...request, tenant: 'user:7', signal, memory: memory.lease('user:7', signal) };
    const [route] = mcpToolsRoutes;
    await assert.rejects(async () => route!.handler(context as never), /Invalid input/);
    assert.deepEqual(turns, [[PROJECT, BYTES, PARSED_COPIES * BYTES]]);
  });
});
