import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ByteBudget, type ByteLease } from '../../outgoing/byte-budget.js';

/** Whether it has been granted once everything that is due has run. */
async function isGranted(wait: Promise<void> | undefined): Promise<boolean> {
  if (wait === undefined) return true;
  return Promise.race([wait.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

describe('byte budget', () => {
  it('grants up to the total, then in the order in which it was asked', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const [first, second, third, fourth] = [budget.lease(), budget.lease(), budget.lease(), budget.lease()];
    assert.ok(await isGranted(first.resize(60)));
    const large = second.resize(80);
    const small = third.resize(10);
    assert.deepEqual([await isGranted(large), await isGranted(small), budget.waiting], [false, false, 2]);
    first.end();
    assert.deepEqual([await isGranted(large), await isGranted(small), budget.heldBytes], [true, true, 90]);
    const late = fourth.resize(20);
    assert.equal(await isGranted(late), false);
    assert.equal(second.resize(0), undefined);
    assert.ok(await isGranted(late));
  });

  it('never keeps the first in line waiting, so that leases which grow while they hold cannot block each other', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const [elder, younger] = [budget.lease(), budget.lease()];
    assert.ok(await isGranted(elder.resize(50)));
    assert.ok(await isGranted(younger.resize(50)));
    const grown = younger.resize(60);
    assert.equal(await isGranted(grown), false);
    assert.ok(await isGranted(elder.resize(500)), 'more than there is at all');
    elder.end();
    assert.ok(await isGranted(grown));
  });

  it('lets what is small through, however much others hold and wait for', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 10 });
    const large = [budget.lease(), budget.lease()];
    assert.ok(await isGranted(large[0]!.resize(200)));
    assert.equal(await isGranted(large[1]!.resize(200)), false);
    assert.equal(budget.lease().resize(10), undefined);
  });

  it('forgets whoever gives up waiting, and lets those behind it in', async () => {
    const budget = new ByteBudget({ totalBytes: 100, uncountedBytes: 0 });
    const holder = budget.lease();
    assert.ok(await isGranted(holder.resize(50)));
    const controller = new AbortController();
    const impatient = budget.lease(controller.signal);
    const wait = impatient.resize(90);
    const behind = budget.lease().resize(40);
    assert.equal(await isGranted(behind), false);
    controller.abort(new Error('cancelled'));
    await assert.rejects(wait!, /cancelled/);
    assert.ok(await isGranted(behind));
    impatient.end();
    assert.equal(budget.heldBytes, 90);
    await assert.rejects(impatient.resize(90)!, /cancelled/, 'also where it was cancelled before it asked');
  });

  it('serves every caller whatever they ask for, and holds no more than the total and what the first in line needs', async () => {
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
        await Promise.all(callers.map((sizes) => use(budget.lease(), sizes)));
        assert.deepEqual([budget.heldBytes, budget.waiting], [0, 0]);
        assert.ok(mostBytes <= 100 + 150, `${mostBytes} bytes were held`);
      }),
      { numRuns: 200, seed: 6 },
    );
  });
});
