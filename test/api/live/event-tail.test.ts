import assert from 'node:assert/strict';
import { EventTail } from '../../../api/live/event-tail.js';
import type { RunEvent } from '../../../db/runs/run-events-repository.js';

function event(version: number, bytes = 10): RunEvent {
  const told = { object: { content: 'x'.repeat(bytes) } };
  return {
    version,
    kind: 'node',
    path: '',
    subject: `n${version}`,
    status: 'succeed',
    content: told,
    bytes,
    apartBytes: null,
  };
}

const versionsOf = (events: RunEvent[] | undefined): number[] | undefined => events?.map(({ version }) => version);

describe('the latest events of a run', () => {
  it('gives each reader the events after its version, and nothing to a reader from before its first version', () => {
    const tail = new EventTail(5);
    assert.deepEqual(versionsOf(tail.after(5)), []);
    tail.append([event(6), event(8)]);
    assert.deepEqual(
      [5, 6, 7, 8].map((place) => versionsOf(tail.after(place))),
      [[6, 8], [8], [8], []],
    );
    assert.equal(tail.version, 8);
    assert.equal(tail.after(4), undefined);
  });

  it('keeps at most 32 KiB; readers that are further behind must read the database', () => {
    const tail = new EventTail(0);
    for (let version = 1; version <= 100; version++) tail.append([event(version, 1024)]);
    assert.equal(tail.after(67), undefined);
    assert.deepEqual(versionsOf(tail.after(68))!.length, 32);
    tail.append([event(101, 100_000)]);
    assert.equal(tail.after(100), undefined);
    assert.deepEqual(versionsOf(tail.after(101)), []);
  });

  it('can skip versions whose events it does not have', () => {
    const tail = new EventTail(0);
    tail.append([event(1)]);
    tail.skipTo(9);
    assert.deepEqual([tail.after(8), versionsOf(tail.after(9)), tail.version], [undefined, [], 9]);
  });
});
