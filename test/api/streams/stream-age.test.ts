import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamDeps } from '../../../api/streams/deps.js';
import { MAX_AGE_MS, streamRun, type AnyFeed } from '../../../api/streams/stream-run.js';

describe('the event stream of a run that does not end', () => {
  it('ends after an hour, so that its reader comes again with credentials', async () => {
    assert.equal(MAX_AGE_MS, 3_600_000);
    let looks = 0;
    let hasEnded = false;
    const feed: AnyFeed = {
      isClosed: false,
      after() {
        looks += 1;
        return Promise.resolve([]);
      },
      untilNews: (atMostMs) => pause(Math.min(atMostMs, 10)),
      end: () => (hasEnded = true),
    };
    const deps = { runHub: { isStopping: false }, config: { publicUrl: '' } } as unknown as StreamDeps;
    const options = {
      runId: 'run-1',
      reader: { userId: 1 } as never,
      role: null,
      after: 0,
      open: () => feed,
      signal: new AbortController().signal,
    };
    await text(streamRun(deps, options, 200));
    assert.ok(looks >= 1);
    assert.equal(hasEnded, true);
  });
});
