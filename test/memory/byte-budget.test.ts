import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ByteBudget, MemoryBusyError, type ByteLease } from '../../memory/byte-budget.js';

/** Returns true if the wait has ended once all due callbacks have run. */
async function isGranted(wait: Promise<void> | undefined): Promise<boolean> {
  if (wait === undefined) return true;
  return Promise.race([wait.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

describe('byte budget', () => {
  it('gives a single tenant three quarters, and the rest to the next tenant', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const [first, second, third] = [budget.lease('a'), budget.lease('a'), budget.lease('a')];
    assert.equal(first.resize(60), undefined);
    const more = second.resize(20);
    assert.equal(await isGranted(more), false);
    assert.equal(await isGranted(budget.lease('b').resize(20)), true);
    const small = third.resize(10);
    assert.deepEqual([await isGranted(small), budget.waiting, budget.heldBytes], [false, 2, 80]);
    first.end();
    assert.deepEqual([await isGranted(more), await isGranted(small), budget.heldBytes], [true, true, 50]);
  });

  it('leaves memory free for a new tenant when several tenants take all they can', async () => {
    const budget = new ByteBudget({ totalBytes: 1_200, uncountedBytes: 0 });
    for (let tenant = 0; tenant < 3; tenant += 1) {
      for (let lease = 0; lease < 50; lease += 1) void budget.lease(`attacker ${tenant}`).resize(25);
    }
    assert.ok(budget.waiting > 80);
    assert.equal(await isGranted(budget.lease('newcomer').resize(25)), true);
    assert.equal(await isGranted(budget.lease('another').resize(25)), true);
  });

  it('serves the tenant that holds the least first, not the one that asked first', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const holder = budget.lease('a');
    assert.ok(await isGranted(holder.resize(100)), 'the oldest one is never kept waiting');
    const greedy = Array.from({ length: 8 }, () => budget.lease('a').resize(20));
    const modest = budget.lease('b').resize(20);
    assert.deepEqual([await isGranted(modest), budget.waiting], [false, 9]);
    void holder.resize(50);
    assert.deepEqual([await isGranted(modest), await isGranted(greedy[0])], [true, false]);
  });

  it('rejects a wait that takes too long, and goes on', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0, patienceMs: 20 });
    const holder = budget.lease('a');
    assert.ok(await isGranted(holder.resize(100)));
    const late = budget.lease('b');
    await assert.rejects(late.resize(60)!, MemoryBusyError);
    late.end();
    assert.deepEqual([budget.waiting, budget.heldBytes], [0, 100]);
    holder.end();
    assert.ok(await isGranted(budget.lease('b').resize(60)));
  });

  it('takes back lent memory of a slow reader when a tenant that holds less waits, and leaves the rest', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const cut: number[] = [];
    const [slow, quick] = [budget.lease('a'), budget.lease('a')];
    for (const [index, lease] of [slow, quick].entries()) {
      await lease.resize(25);
      const taken = lease.lend(() => {
        cut.push(index);
        lease.end();
      });
      if (lease === quick) taken();
    }
    const given = new AbortController();
    const own = budget.lease('a', given.signal).resize(60)!;
    assert.equal(await isGranted(own), false);
    const wanted = budget.lease('b').resize(40);
    assert.deepEqual([await isGranted(wanted), cut], [false, []]);
    await wanted;
    assert.deepEqual(cut, [0]);
    given.abort(new Error('hung up'));
    await assert.rejects(own, /hung up/);
  });

  it('counts all of the leases of a tenant who has many small ones', () => {
    const budget = new ByteBudget({ totalBytes: 1_000, uncountedBytes: 10, uncountedLeases: 2 });
    const leases = Array.from({ length: 5 }, () => budget.lease('a'));
    for (const lease of leases) assert.equal(lease.resize(10), undefined);
    assert.equal(budget.heldBytes, 30);
    assert.equal(budget.lease('b').resize(10), undefined);
    assert.equal(budget.heldBytes, 30);
    for (const lease of leases) lease.end();
    assert.equal(budget.lease('a').resize(10), undefined);
    assert.equal(budget.heldBytes, 0);
  });

  it('never keeps the oldest lease waiting, so that leases which grow while they hold cannot block each other', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const [elder, younger] = [budget.lease('a'), budget.lease('b')];
    assert.ok(await isGranted(elder.resize(50)));
    assert.ok(await isGranted(younger.resize(25)));
    const grown = younger.resize(60);
    assert.equal(await isGranted(grown), false);
    assert.ok(await isGranted(elder.resize(500)), 'more than there is at all');
    elder.end();
    assert.ok(await isGranted(grown));
  });

  it('lets what is small through, however much others hold and wait for', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 10 });
    const large = [budget.lease('a'), budget.lease('b')];
    assert.ok(await isGranted(large[0]!.resize(200)));
    assert.equal(await isGranted(large[1]!.resize(200)), false);
    assert.equal(budget.lease('a').resize(10), undefined);
  });

  it('drops a wait that is aborted, and serves those behind it', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const holder = budget.lease('a');
    assert.ok(await isGranted(holder.resize(90)));
    const controller = new AbortController();
    const impatient = budget.lease('b', controller.signal);
    const wait = impatient.resize(90);
    assert.equal(await isGranted(wait), false);
    controller.abort(new Error('cancelled'));
    await assert.rejects(wait!, /cancelled/);
    assert.ok(await isGranted(budget.lease('c').resize(5)));
    impatient.end();
    assert.deepEqual([budget.heldBytes, budget.waiting], [95, 0]);
    const late = budget.lease('b', controller.signal);
    await assert.rejects(late.resize(90)!, /cancelled/, 'also where it was cancelled before it asked');
  });

  it('gives nothing to a lease that has ended', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const ended = budget.lease('a');
    assert.ok(await isGranted(ended.resize(90)));
    ended.end();
    for (const bytes of [50, 0, 90]) assert.equal(ended.resize(bytes), undefined);
    assert.deepEqual([budget.heldBytes, budget.waiting], [0, 0]);
    assert.ok(await isGranted(budget.lease('b').resize(100)));
  });

  it('serves every caller, and holds no more than the total and what the oldest lease needs', async () => {
    const steps = fc.array(fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 1, maxLength: 4 }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (callers) => {
        const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 5 });
        let mostBytes = 0;
        const use = async (lease: ByteLease, sizes: number[]): Promise<void> => {
          for (const size of sizes) {
            await lease.resize(size);
            mostBytes = Math.max(mostBytes, budget.heldBytes);
            await new Promise((resolve) => setImmediate(resolve));
          }
          lease.end();
        };
        await Promise.all(callers.map((sizes, index) => use(budget.lease(`tenant ${index % 3}`), sizes)));
        assert.deepEqual([budget.heldBytes, budget.waiting], [0, 0]);
        assert.ok(mostBytes <= 100 + 150, `${mostBytes} bytes were held`);
      }),
      { numRuns: 200, seed: 6 },
    );
  });
});
