import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { OpenStreams } from '../../../api/live/open-streams.js';

describe('the open streams of a user', () => {
  it('are hung up at once when the user becomes inactive, and cut within two seconds where nobody reads', async () => {
    const streams = new OpenStreams();
    const [own, unread, foreign] = [1, 1, 2].map((userId) => {
      const body = new Readable({ read: () => undefined });
      const stream = { userId, body, hungUp: false };
      const leave = streams.enter({ userId, body, hangUp: () => (stream.hungUp = true) });
      return { stream, leave };
    });
    own!.leave();
    const cuts: { afterMs: number; cut: () => void }[] = [];
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((cut: () => void, afterMs: number) => {
      cuts.push({ afterMs, cut });
    }) as unknown as typeof real;
    try {
      streams.endThoseOf(1);
    } finally {
      globalThis.setTimeout = real;
    }
    assert.deepEqual(
      [own, unread, foreign].map((each) => each!.stream.hungUp),
      [false, true, false],
    );
    const [{ afterMs, cut }] = cuts as [(typeof cuts)[number]];
    assert.equal(cuts.length, 1);
    assert.ok(afterMs < 2_000);
    const closed = once(unread!.stream.body, 'close');
    cut();
    await closed;
    assert.equal(foreign!.stream.body.destroyed, false);
  });
});
