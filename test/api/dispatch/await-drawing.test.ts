import assert from 'node:assert/strict';
import { awaitDrawing } from '../../../api/dispatch/await-drawing.js';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import type { RequestContext } from '../../../api/dispatch/step.js';
import { ByteBudget } from '../../../memory/byte-budget.js';

const BODY_BYTES = 1_000_000;

describe('a route that reads a drawing', () => {
  /** Returns the size with which the request stands in the queue, and its memory while it is served. */
  async function serve(takesDrawing: true | undefined): Promise<{ queued: number; leased: number }> {
    const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 });
    const { signal } = new AbortController();
    const lease = memory.lease('user:1', signal);
    // As the body has left it: its bytes, their text and the parsed value.
    await lease.resize(3 * BODY_BYTES);
    let queued = -1;
    const heavyWork = {
      run: async (_asker: unknown, sizeBytes: number, work: () => Promise<unknown>) => {
        queued = sizeBytes;
        await work();
      },
    };
    const ctx = { params: {}, state: { memory: lease, signal, tenant: 'user:1' } } as unknown as RequestContext;
    let leased = -1;
    const reads = { readsDrawing: 'parsed', ...(takesDrawing && { takesDrawing }) } as const;
    const step = awaitDrawing(reads, { heavyWork } as unknown as DispatchDeps);
    await step(ctx, () => Promise.resolve((leased = lease.bytes)));
    return { queued, leased };
  }

  it('stands in the queue with the drawing of its body, where it takes one', async () => {
    assert.deepEqual(await serve(true), { queued: BODY_BYTES, leased: (3 + 8) * BODY_BYTES });
    assert.deepEqual(await serve(undefined), { queued: 0, leased: 3 * BODY_BYTES });
  });
});
