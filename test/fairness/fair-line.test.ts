import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FairLine } from '../../fairness/fair-line.js';
import { Holdings } from '../../fairness/holdings.js';

interface Work {
  tenant: string;
  name: string;
}

describe('a fair line', () => {
  /** Adds an item to the line for each name, whose first letter is the tenant. Returns the items. */
  function waiting(line: FairLine<string, Work>, names: string[]) {
    const works = names.map((name): Work => ({ tenant: name[0]!, name }));
    for (const work of works) void line.wait(work.tenant, work);
    return works;
  }
  const all = (): boolean => true;
  const serveAll = (line: FairLine<string, Work>): string => {
    const order: string[] = [];
    for (let next = line.next(all); next !== undefined; next = line.next(all)) order.push(next.name);
    return order.join(' ');
  };

  it('serves keys in rotation, and the items of each in order of arrival', () => {
    const line = new FairLine<string, Work>();
    waiting(line, ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
    assert.deepEqual([line.size, line.sizeOf('a'), line.sizeOf('d')], [6, 3, 0]);
    assert.equal(serveAll(line), 'a1 b1 c1 a2 c2 a3');
    assert.deepEqual([line.size, line.sizeOf('a')], [0, 0]);
  });

  it('serves the keys of the lowest rank first, and keys of the same rank in rotation', () => {
    const held = new Holdings<string>();
    const line = new FairLine<string, Work>({ rankOf: (tenant) => held.of(tenant) });
    held.add('a', 2);
    held.add('b', 1);
    waiting(line, ['a1', 'b1', 'b2', 'c1', 'c2', 'd1']);
    const order: string[] = [];
    for (let next = line.next(all); next !== undefined; next = line.next(all)) {
      order.push(next.name);
      held.add(next.tenant, 1);
    }
    assert.equal(order.join(' '), 'c1 d1 b1 c2 a1 b2');
    assert.deepEqual([held.total, held.largest], [9, 3]);
  });

  it('skips items that may not be served yet, and serves them later, after the keys that were not served meanwhile', () => {
    const line = new FairLine<string, Work>();
    waiting(line, ['a1', 'a2', 'b1']);
    assert.equal(line.next(({ name }) => name !== 'a1' && name !== 'b1')?.name, 'a2');
    assert.equal(
      line.next(() => false),
      undefined,
    );
    assert.equal(serveAll(line), 'b1 a1');
  });

  it('orders the items of a key by isBefore', () => {
    const line = new FairLine<string, Work>({ isBefore: (left, right) => left.name < right.name });
    waiting(line, ['a2', 'b1', 'a3', 'a1']);
    assert.equal(serveAll(line), 'a1 b1 a2 a3');
  });

  it('serves a given item, even if others are before it', async () => {
    const line = new FairLine<string, Work>();
    const [, second] = waiting(line, ['a1', 'a2']);
    assert.deepEqual([line.serve(second!), line.serve(second!), line.size], [true, false, 1]);
    assert.equal(serveAll(line), 'a1');
  });

  it('drops an item at once that is aborted or out of patience, and rejects a second wait for an item', async () => {
    const line = new FairLine<string, Work>();
    const [client, work] = [new AbortController(), { tenant: 'a', name: 'a1' }];
    let left = 0;
    const aborted = line.wait('a', work, { signal: client.signal, onUnserved: () => (left += 1) });
    await assert.rejects(line.wait('a', work), /waiting already/);
    client.abort(new Error('hung up'));
    assert.deepEqual([left, line.size], [1, 0]);
    await assert.rejects(aborted, /hung up/);
    await assert.rejects(line.wait('a', work, { signal: client.signal, onUnserved: () => (left += 1) }), /hung up/);
    const patience = { ms: 1, toError: () => new Error('too late') };
    await assert.rejects(line.wait('a', work, { patience, onUnserved: () => (left += 1) }), /too late/);
    assert.deepEqual([left, line.size, line.next(all)], [3, 0, undefined]);
  });

  it('serves or drops each item exactly once, in whatever order things happen', async () => {
    const step = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), does: fc.constantFrom('wait', 'abort', 'serve') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const line = new FairLine<string, Work>();
        const ends: Promise<string>[] = [];
        const open: AbortController[] = [];
        let served = 0;
        for (const { tenant, does } of steps) {
          if (does === 'wait') {
            const client = new AbortController();
            open.push(client);
            const wait = line.wait(tenant, { tenant, name: tenant }, { signal: client.signal });
            ends.push(
              wait.then(
                () => 'served',
                () => 'left',
              ),
            );
          } else if (does === 'abort') open.shift()?.abort();
          else if (line.next(({ tenant: other }) => other === tenant) !== undefined) served += 1;
        }
        while (line.next(all) !== undefined) served += 1;
        const ended = await Promise.all(ends);
        assert.equal(ended.filter((end) => end === 'served').length, served);
        assert.equal(line.size, 0);
      }),
      { numRuns: 300, seed: 4 },
    );
  });
});
