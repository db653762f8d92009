import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { ByteBudget } from '../../memory/byte-budget.js';
import { splitLease } from '../../memory/split-lease.js';

const MIB = 1024 * 1024;

describe('a split lease', () => {
  const signal = new AbortController().signal;
  const open = (totalBytes = 100 * MIB) => {
    const budget = new ByteBudget({ totalBytes, uncountedBytes: 0 });
    const lease = budget.lease('user:1', signal);
    return { budget, lease };
  };

  it('holds what its parts hold together, in addition to what it held, however they change at once', async () => {
    const { budget, lease } = open();
    await lease.resize(MIB);
    const { part } = splitLease(lease, signal);
    const parts = [part(), part(), part()];
    await Promise.all(parts.flatMap((each) => [each.resize(3 * MIB), each.resize(2 * MIB)] as Promise<void>[]));
    assert.equal(budget.heldBytes, 7 * MIB);
    parts[0]!.end();
    await parts[1]!.resize(MIB);
    assert.equal(budget.heldBytes, 4 * MIB);
  });

  it('lets one part be large at a time, and the next one once that is small or has ended', async () => {
    const { budget, lease } = open();
    const { part } = splitLease(lease, signal);
    const [first, second, third] = [part(), part(), part()];
    await first.resize(60 * MIB);
    const granted: string[] = [];
    const [another, last] = [second.resize(50 * MIB), third.resize(40 * MIB)] as Promise<void>[];
    void another!.then(() => granted.push('second'));
    void last!.then(() => granted.push('third'));
    // Granting takes no time: it would have happened in this turn of the event loop.
    await setImmediate();
    assert.deepEqual([granted, budget.heldBytes], [[], 60 * MIB]);
    await first.resize(MIB);
    await another;
    assert.deepEqual([granted, budget.heldBytes], [['second'], 51 * MIB]);
    second.end();
    await last;
    assert.equal(budget.heldBytes, 41 * MIB);
  });

  it('ends the waiting of a part with the reason of its signal, and the part holds what it held', async () => {
    const { budget, lease } = open();
    const stop = new AbortController();
    const { part } = splitLease(lease, stop.signal);
    const [first, second] = [part(), part()];
    await first.resize(20 * MIB);
    await second.resize(MIB);
    const waiting = second.resize(20 * MIB)!;
    stop.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
    assert.equal(budget.heldBytes, 21 * MIB);
  });

  it('gives nothing to a part that ends while it waits, and lets the next one be large', async () => {
    const { budget, lease } = open();
    const { part } = splitLease(lease, signal);
    const [first, second, third] = [part(), part(), part()];
    await first.resize(20 * MIB);
    const abandoned = second.resize(20 * MIB)!;
    const waiting = third.resize(30 * MIB);
    second.end();
    await assert.rejects(abandoned, /has ended/);
    first.end();
    await waiting;
    assert.equal(budget.heldBytes, 30 * MIB);
  });

  it('gives its parts nothing more once it is closed, so that no part holds memory for ever', async () => {
    const { budget, lease } = open();
    const split = splitLease(lease, signal);
    const part = split.part();
    await part.resize(MIB);
    split.close();
    lease.end();
    await assert.rejects(part.resize(2 * MIB)!, /closed/);
    part.end();
    await setImmediate();
    assert.equal(budget.heldBytes, 0);
  });
});
