// Parsing and checking a large import each block the event loop for tens of milliseconds, so each waits for a turn in
// the queue of heavy work. The translation of an n8n file takes longer, but runs in another process and needs no turn.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { addBody } from '../../../api/dispatch/add-body.js';
import type { RequestContext } from '../../../api/dispatch/step.js';
import type { Asker } from '../../../api/http/heavy-work.js';
import { portingRoutes } from '../../../api/workflows/porting-routes.js';
import { ByteBudget } from '../../../memory/byte-budget.js';

const TEXT = 'x'.repeat(600 * 1024);
const N8N = {
  name: 'Of n8n',
  nodes: [{ name: 'Start', type: 'n8n-nodes-base.webhook', parameters: { path: TEXT } }],
  connections: {},
};
const OWN = { title: 'Of here', data: { nodes: [{ id: 'a', type: 'start-node', data: { text: TEXT } }], edges: [] } };

describe('a large import', () => {
  const route = portingRoutes.find(({ path }) => path.endsWith('/import/'))!;
  const memory = new ByteBudget({ totalBytes: 1_000_000_000, uncountedBytes: 0 });
  const { signal } = new AbortController();
  let turns: (Asker & { sizeBytes: number })[];
  let isInTurn: boolean;
  const heavyWork = {
    async run<T>(asker: Asker, sizeBytes: number, work: () => Promise<T> | T): Promise<T> {
      assert.equal(isInTurn, false, 'no turn is taken within a turn');
      turns.push({ ...asker, sizeBytes });
      isInTurn = true;
      try {
        return await work();
      } finally {
        isInTurn = false;
      }
    },
  };

  beforeEach(() => {
    turns = [];
    isInTurn = false;
  });

  /** Reads the file with the middleware that reads the bodies of requests. */
  async function read(file: object): Promise<{ body: unknown; lease: ReturnType<ByteBudget['lease']> }> {
    const bytes = Buffer.from(JSON.stringify(file));
    const lease = memory.lease('user:1');
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    const handlerInput: { body?: unknown } = {};
    const ctx = {
      req: Object.assign(Readable.from([bytes]), { headers, httpVersion: '1.1' }),
      get: (name: string) => headers[name] ?? '',
      state: { memory: lease, tenant: 'user:1', signal, handlerInput, access: { projectId: 7 } },
    } as unknown as RequestContext;
    await addBody(route, { files: {}, heavyWork } as never)(ctx, () => Promise.resolve());
    return { body: handlerInput.body, lease };
  }

  for (const [what, file, work] of [
    ['of n8n', N8N, ['written for the process', 'read from the process', 'judged', 'stored']],
    ['of this service', OWN, ['judged', 'stored']],
  ] as const) {
    it(`${what} is parsed, ${work.join(', ')} in turns of its tenant and project`, async () => {
      const { body, lease } = await read(file);
      const sizeBytes = Buffer.byteLength(JSON.stringify(file));
      assert.deepEqual(turns, [{ tenant: 'user:1', projectId: 7, signal, sizeBytes }]);
      let translated = 0;
      const processes = {
        run() {
          translated += 1;
          assert.equal(isInTurn, false, 'the translation holds no turn');
          const drawing = { nodes: [], edges: [] };
          return Promise.resolve({ kind: 'text', text: JSON.stringify({ title: 'x', drawing, warnings: [] }) });
        },
      };
      const stored = new Error('this is where it is stored');
      const audit = {
        change() {
          assert.equal(isInTurn, true);
          return Promise.reject(stored);
        },
      };
      const context = { deps: { processes, heavyWork }, caller: { userId: 1 }, params: { id: 7 }, body, audit };
      const handled = route.handler({ ...context, memory: lease, tenant: 'user:1', signal } as never);
      await assert.rejects(handled, stored);
      assert.equal(translated, what === 'of n8n' ? 1 : 0);
      assert.equal(turns.length, work.length + 1);
      for (const turn of turns) assert.deepEqual(turn, { tenant: 'user:1', projectId: 7, signal, sizeBytes });
      lease.end();
    });
  }
});
