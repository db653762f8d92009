import assert from 'node:assert/strict';
import type { NodeEntry } from '../../../console/live/live-run.js';
import { axisOf, layOutRow, ticksOf, type AttemptFacts } from '../../../console/pages/run/timeline-layout.js';

const ORIGIN = '2026-01-31T12:00:00.000Z';
const originMs = Date.parse(ORIGIN);
const at = (ms: number): string => new Date(originMs + ms).toISOString();
const entry = (status: NodeEntry['status'], from: number, to: number | null): NodeEntry => ({
  id: 'node',
  status,
  started_at: at(from),
  finished_at: to === null ? null : at(to),
});
const attempt = (number: number, from: number, to: number | null, status: 'in progress' | 'succeed' | 'failed') => ({
  number,
  started_at: at(from),
  finished_at: to === null ? null : at(to),
  status,
  error: status === 'failed' ? { code: 'http_status', message: '503' } : null,
});
const row = (of: NodeEntry, detail?: AttemptFacts, more: object = {}) =>
  layOutRow({ originMs, entry: of, detail, isWaiting: false, requests: [], ...more });

describe('a row of the timeline', () => {
  it('is one attempt while nothing else is known, which goes on while the node is in progress', () => {
    const [open] = row(entry('in progress', 100, null)).attempts;
    assert.deepEqual(open, { number: 1, word: 'in progress', fromMs: 100, toMs: null, waits: [] });
    const [done] = row(entry('succeed', 100, 350)).attempts;
    assert.deepEqual(done, { number: 1, word: 'succeeded', fromMs: 100, toMs: 350, waits: [] });
    assert.deepEqual(row({ id: 'node', status: 'in progress', started_at: null, finished_at: null }).attempts, []);
  });

  it('has each attempt, the queue before the first and the pauses between them', () => {
    const attempts = [attempt(1, 100, 200, 'failed'), attempt(2, 700, 900, 'succeed')];
    const view = row(entry('succeed', 100, 900), { queued_ms: 40, attempts });
    assert.deepEqual(view.queue, { fromMs: 60, toMs: 100 });
    assert.deepEqual(
      view.attempts.map(({ number, word }) => [number, word]),
      [
        [1, 'failed'],
        [2, 'succeeded'],
      ],
    );
    assert.deepEqual(view.pauses, [{ fromMs: 200, toMs: 700 }]);
  });

  it('pauses behind a failed attempt while the node goes on', () => {
    const view = row(entry('in progress', 100, null), { queued_ms: 0, attempts: [attempt(1, 100, 200, 'failed')] });
    assert.deepEqual(view.pauses, [{ fromMs: 200, toMs: null }]);
  });

  it('takes the end from the entry where the detail is older', () => {
    const old = { queued_ms: 0, attempts: [attempt(1, 0, 10, 'failed'), attempt(2, 20, null, 'in progress')] };
    const view = row(entry('succeed', 0, 50), old);
    assert.deepEqual(view.attempts.at(-1), { number: 2, word: 'succeeded', fromMs: 20, toMs: 50, waits: [] });
  });

  it('has the attempt with which the node ended, also where the detail is that of an earlier one', () => {
    const view = row(entry('succeed', 0, 90), { queued_ms: 0, attempts: [attempt(1, 0, 10, 'failed')] });
    assert.deepEqual(
      view.attempts.map(({ number, word, toMs }) => [number, word, toMs]),
      [
        [1, 'failed', 10],
        [2, 'succeeded', 90],
      ],
    );
  });

  it('draws waits for a decision within their attempt, open ones to its end', () => {
    const request = (status: string, from: number, decided: number | null) => ({
      status,
      created_at: at(from),
      decided_at: decided === null ? null : at(decided),
      expires_at: at(90_000),
    });
    const requests = [request('approved', 20, 60), request('pending', 80, null), request('rejected', 500, 600)];
    const open = row(entry('in progress', 10, null), undefined, { requests: requests.slice(0, 2), isWaiting: true });
    assert.equal(open.attempts[0]?.word, 'waiting');
    assert.deepEqual(open.attempts[0]?.waits, [
      { fromMs: 20, toMs: 60 },
      { fromMs: 80, toMs: null },
    ]);
    const done = row(entry('succeed', 10, 100), undefined, { requests });
    assert.deepEqual(done.attempts[0]?.waits, [
      { fromMs: 20, toMs: 60 },
      { fromMs: 80, toMs: 100 },
    ]);
  });

  it('is waited time all along for a node that only waits, while it waits and afterwards', () => {
    const until = at(90_000);
    const waiting = { for: 'time', until } as NonNullable<NodeEntry['waiting']>;
    const [open] = row({ ...entry('in progress', 10, null), waiting }).attempts;
    assert.deepEqual([open?.word, open?.waits], ['waiting', [{ fromMs: 10, toMs: null }]]);
    const detail = { queued_ms: 0, waited_for: 'time', attempts: [attempt(1, 10, 60, 'succeed')] };
    const [done] = row(entry('succeed', 10, 60), detail).attempts;
    assert.deepEqual([done?.word, done?.waits], ['succeeded', [{ fromMs: 10, toMs: 60 }]]);
  });

  it('has one wait for requests of the same time, as for two approvals of one turn', () => {
    const request = (from: number, decided: number | null) => ({
      status: decided === null ? 'pending' : 'approved',
      created_at: at(from),
      decided_at: decided === null ? null : at(decided),
      expires_at: at(90_000),
    });
    const waits = (requests: object[]) =>
      row(entry('in progress', 10, null), undefined, { requests }).attempts[0]?.waits;
    assert.deepEqual(waits([request(20, 60), request(20, 40)]), [{ fromMs: 20, toMs: 60 }]);
    assert.deepEqual(waits([request(20, 60), request(20, null)]), [{ fromMs: 20, toMs: null }]);
    assert.deepEqual(waits([request(30, null), request(20, 25)]), [
      { fromMs: 20, toMs: 25 },
      { fromMs: 30, toMs: null },
    ]);
  });

  it('waits in its last attempt alone', () => {
    const waiting = { for: 'child' } as NonNullable<NodeEntry['waiting']>;
    const detail = (to: number | null): AttemptFacts => ({
      queued_ms: 0,
      waited_for: 'child',
      attempts: [attempt(1, 0, 10, 'failed'), attempt(2, 20, to, to === null ? 'in progress' : 'succeed')],
    });
    const waits = (of: NodeEntry, known: AttemptFacts) => row(of, known).attempts.map((each) => each.waits);
    const open = entry('in progress', 0, null);
    assert.deepEqual(waits({ ...open, waiting }, detail(null)), [[], [{ fromMs: 20, toMs: null }]]);
    assert.deepEqual(waits(entry('succeed', 0, 50), detail(50)), [[], [{ fromMs: 20, toMs: 50 }]]);
    const pausing = { ...detail(null), attempts: [attempt(1, 0, 10, 'failed')] };
    assert.deepEqual(waits({ ...open, waiting }, pausing), [[]]);
  });

  it('has not only waited where the wait of a tool call has ended since the detail was read', () => {
    const detail = { queued_ms: 0, waited_for: 'child', attempts: [attempt(1, 0, null, 'in progress')] };
    const [open] = row(entry('in progress', 0, null), detail).attempts;
    assert.deepEqual([open?.word, open?.waits], ['in progress', []]);
    assert.deepEqual(row(entry('succeed', 0, 50), detail).attempts[0]?.waits, []);
  });

  it('never begins before the run', () => {
    const view = row(entry('succeed', 5, 20), { queued_ms: 400, attempts: [attempt(1, 5, 20, 'succeed')] });
    assert.deepEqual(view.queue, { fromMs: 0, toMs: 5 });
  });
});

describe('the ticks of the timeline', () => {
  it('are round, begin at nothing, and are few, however long the run is', () => {
    assert.deepEqual(ticksOf(950), [0, 200, 400, 600, 800]);
    assert.deepEqual(ticksOf(7_000), [0, 2_000, 4_000, 6_000]);
    for (const span of [0, 1, 999, 61_000, 3_600_000, 86_400_000, 30 * 86_400_000]) {
      const ticks = ticksOf(span);
      assert.equal(ticks[0], 0);
      assert.ok(ticks.length <= 7 && ticks.at(-1)! <= span, `${span}: ${ticks.join()}`);
    }
  });
});

describe('the axis of an open run', () => {
  it('stands still for a while and always has room for what is in progress', () => {
    const lengths = Array.from({ length: 600 }, (_, index) => axisOf(index * 100));
    assert.ok(lengths.every((length, index) => length > index * 100));
    assert.ok(new Set(lengths).size < 12, `${new Set(lengths).size} lengths in a minute`);
    assert.deepEqual(
      lengths,
      lengths.toSorted((a, b) => a - b),
    );
  });
});
