import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { awaitDrawing } from '../../../api/dispatch/await-drawing.js';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import type { RequestContext } from '../../../api/dispatch/step.js';
import type { HeavyWork } from '../../../api/http/heavy-work.js';
import { withDrawing } from '../../../api/workflows/with-drawing.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { playedDatabase } from '../../support/played-database.js';

type Reads = Parameters<typeof awaitDrawing>[0];

const BODY_BYTES = 1_000_000;

/**
 * Files that take no turn in the queue themselves: a command of operators, functions that routes call during the turn
 * of the route, and the loop of test cases, which reads one drawing at a time.
 */
const IN_TURN = [
  'api/connections/extract-connections.ts',
  'api/conversations/find-drawing.ts',
  'api/runs/resume/resumption.ts',
  'api/test-runs/run-cases.ts',
];

describe('a route that reads a drawing', () => {
  /** Returns the size with which the request is queued, and the bytes that it has leased while it is served. */
  async function serve(reads: Reads, body?: unknown): Promise<{ queued: number; leased: number }> {
    const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 });
    const { signal } = new AbortController();
    const lease = memory.lease('user:1', signal);
    // Reading the body has leased this memory: for its bytes, their text and the parsed value.
    await lease.resize(3 * BODY_BYTES);
    let queued = -1;
    const heavyWork = {
      run: async (_asker: unknown, sizeBytes: number, work: () => Promise<unknown>) => {
        queued = sizeBytes;
        await work();
      },
    };
    const state = { memory: lease, signal, tenant: 'user:1', handlerInput: { body } };
    const ctx = { params: {}, state } as unknown as RequestContext;
    let leased = -1;
    const step = awaitDrawing(reads, { heavyWork } as unknown as DispatchDeps);
    await step(ctx, () => Promise.resolve((leased = lease.bytes)));
    return { queued, leased };
  }

  it('is queued with the size of its body, and leases memory for a drawing in the body if it takes one', async () => {
    assert.deepEqual(await serve({ readsDrawing: 'parsed', takesDrawing: true }), {
      queued: BODY_BYTES,
      leased: (3 + 8) * BODY_BYTES,
    });
    assert.deepEqual(await serve({ readsDrawing: 'parsed' }), { queued: BODY_BYTES, leased: 3 * BODY_BYTES });
  });

  it('that its path does not name is queued with the sizes of the drawing and of the body', async () => {
    const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 }).lease('user:1');
    await memory.resize(3 * BODY_BYTES);
    const db = playedDatabase(() => ({ rows: [{ bytes: 2_000_000 }] }));
    const sizes: number[] = [];
    const heavyWork = {
      run: <T>(_asker: unknown, sizeBytes: number, work: () => T) => {
        sizes.push(sizeBytes);
        return work();
      },
    } as unknown as HeavyWork;
    const { signal } = new AbortController();
    const asker = { tenant: 'user:1', signal, memory };
    const reads = { workflowId: 1, form: 'parsed', bodyBytes: BODY_BYTES } as const;
    const leased = await withDrawing({ db, heavyWork }, asker, reads, () => Promise.resolve(memory.bytes));
    assert.deepEqual([sizes, leased], [[BODY_BYTES + 2_000_000], 3 * BODY_BYTES + 8 * 2_000_000]);
  });

  it('leases memory for what resolving the actions in its body may add, at most for the largest drawing', async () => {
    const bodyOf = (count: number) => {
      const call = { id: 'n', type: 'http-node', data: { action: { service: 's', id: 'a' } } };
      return { data: { nodes: Array.from({ length: count }, () => call) } };
    };
    const leasedFor = async (body: unknown): Promise<number> =>
      (await serve({ resolvesActions: 'data' }, body)).leased - 3 * BODY_BYTES;
    assert.equal(await leasedFor({ title: 'no drawing' }), 0);
    assert.equal(await leasedFor(bodyOf(0)), 0);
    assert.equal(await leasedFor(bodyOf(2)), 4 * 2 * 192 * 1024);
    assert.equal(await leasedFor(bodyOf(10_000)), 4 * 8 * 1024 * 1024);
  });

  it('declares readsDrawing, or calls withDrawing', () => {
    const files = execFileSync('git', ['ls-files', 'api/**routes.ts'], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
    const routes = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^const (\w+) = defineRoute\(\{$.*?^\}\);$/gms)].map(([text, name]) => ({
        name: `${file} ${name}`,
        text,
      })),
    );
    assert.ok(routes.length > 100, `${routes.length} routes`);
    const reading = routes.filter(({ text }) =>
      /\b(?:findDrawing|loadDrawing|findVersion|drawings\.find)\(/.test(text),
    );
    assert.ok(reading.length > 10, `${reading.length} routes read a drawing`);
    const silent = reading
      .filter(({ text }) => !/^  readsDrawing: |\bwithDrawing\(/m.test(text))
      .map(({ name }) => name);
    assert.deepEqual(silent, []);
  });

  it('reads a published drawing, or that of a run, in a turn of the queue', () => {
    const files = execFileSync('git', ['ls-files', 'api'], { encoding: 'utf8' }).split('\n').filter(Boolean);
    const reading = files.filter((file) => /\b(?:findSnapshot|copyFromMarketplace)\(/.test(readFileSync(file, 'utf8')));
    assert.ok(reading.length > 2, reading.join());
    const silent = reading.filter((file) => !/\bheavyWork\.run\(/.test(readFileSync(file, 'utf8')));
    assert.deepEqual(silent, []);
  });

  it('reads it in a turn of the queue, in every file that is not in IN_TURN', () => {
    const files = execFileSync('git', ['ls-files', 'api'], { encoding: 'utf8' }).split('\n').filter(Boolean);
    const reading = files.filter((file) =>
      /\b(?:findDrawing|findVersion|drawings\.find)\(/.test(readFileSync(file, 'utf8')),
    );
    assert.ok(reading.length > 10, reading.join());
    const silent = reading.filter((file) => !/readsDrawing: '|withDrawing\(/.test(readFileSync(file, 'utf8')));
    assert.deepEqual(silent, IN_TURN);
  });
});
