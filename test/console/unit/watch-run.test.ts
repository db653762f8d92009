import assert from 'node:assert/strict';
import {
  RunNotFoundError,
  ServiceError,
  type RunEvent,
  type VersionedState,
} from '../../../clients/typescript/src/index.js';
import { watchRun, type RunSource } from '../../../console/live/watch-run.js';

const RUN_END: RunEvent = { type: 'run', version: 50, status: 'succeed' };

function nodeEvent(version: number): RunEvent {
  return { type: 'node', version, node: { id: `n${version}`, path: '', status: 'in progress' } };
}

function state(version: number, status: VersionedState['status'] = 'in progress'): VersionedState {
  return { id: 'run', status, nodes: {}, version, etag: `"${version}"` };
}

interface Script {
  /** The events of each connection. An error breaks the connection. */
  streams?: (RunEvent | Error)[][];
  polls?: (VersionedState | undefined | Error)[];
  /** The version of the last known event. */
  after?: number;
}

async function watch({ streams = [], polls = [state(1)], after: known }: Script) {
  const seen: string[] = [];
  const places: (number | undefined)[] = [];
  const tags: (string | undefined)[] = [];
  const source: RunSource = {
    async *read(after, onOpen) {
      places.push(after);
      const stream = streams.shift();
      if (stream === undefined) throw new Error('no stream is left');
      for (const [index, item] of stream.entries()) {
        if (item instanceof Error) throw item;
        if (index === 0) onOpen();
        yield item;
      }
    },
    async poll(etag) {
      tags.push(etag);
      if (polls.length === 0) throw new ServiceError(new Response('', { status: 400 }), { detail: 'no poll is left' });
      const answer = polls.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    pause: () => Promise.resolve(seen.push('pause')).then(() => undefined),
  };
  const sink = {
    onState: ({ version }: VersionedState) => seen.push(`state ${version}`),
    onEvent: ({ version }: RunEvent) => seen.push(`event ${version}`),
    onConnection: (connection: string) => seen.push(connection),
  };
  const end = await watchRun(source, sink, new AbortController().signal, known).then(
    () => 'ended',
    (error: unknown) => error,
  );
  return { seen: seen.filter((item, index) => item !== seen[index - 1]), places, tags, end };
}

describe('following a run', () => {
  it('begins with the state, and goes on behind it by events until the end', async () => {
    const { seen, places, end } = await watch({ streams: [[nodeEvent(2), RUN_END]] });
    assert.deepEqual(seen, ['connecting', 'state 1', 'live', 'event 2', 'event 50']);
    assert.deepEqual(places, [1]);
    assert.equal(end, 'ended');
  });

  it('asks for no stream of a run that has ended', async () => {
    const { places, end } = await watch({ polls: [state(7, 'failed')] });
    assert.deepEqual(places, []);
    assert.equal(end, 'ended');
  });

  it('resumes behind the last event where a stream breaks or ends', async () => {
    const { places, end } = await watch({ streams: [[nodeEvent(5), new TypeError('cut')], [nodeEvent(8)], [RUN_END]] });
    assert.deepEqual(places, [1, 5, 8]);
    assert.equal(end, 'ended');
  });

  it('reads the events of nodes inside loops that came while it was away, although the state is newer', async () => {
    const back = await watch({ after: 3, polls: [state(20)], streams: [[nodeEvent(4), RUN_END]] });
    assert.deepEqual(back.places, [3]);
    const cut = new TypeError('fetch failed');
    const lost = await watch({ streams: [[nodeEvent(5)], [cut], [RUN_END]], polls: [state(1), state(9)] });
    assert.deepEqual(lost.places, [1, 5, 5]);
  });

  it('says that the connection is lost when nothing answers, and that it is back', async () => {
    const cut = new TypeError('fetch failed');
    const { seen, end } = await watch({ streams: [[cut], [RUN_END]], polls: [state(1), cut, cut, state(2)] });
    assert.deepEqual(seen, ['connecting', 'state 1', 'lost', 'pause', 'lost', 'pause', 'state 2', 'live', 'event 50']);
    assert.equal(end, 'ended');
  });

  it('falls back to polls that wait for a change where no stream comes through', async () => {
    const held = new Error('The stream did not begin.');
    const { seen, tags, end } = await watch({
      streams: [[held], [held]],
      polls: [state(1), state(2), undefined, state(3), state(4, 'succeed')],
    });
    assert.ok(seen.includes('polling'));
    assert.deepEqual(
      seen.filter((item) => item.startsWith('state')),
      ['state 1', 'state 2', 'state 3', 'state 4'],
    );
    assert.deepEqual(tags, [undefined, undefined, '"2"', '"2"', '"3"']);
    assert.equal(end, 'ended');
  });

  it('tries a stream again after twenty polls in its place', async () => {
    const held = new Error('The stream did not begin.');
    const polls = [state(1), state(2), ...Array<undefined>(100).fill(undefined)];
    const { places, tags, end } = await watch({ streams: [[held], [held], [nodeEvent(3), RUN_END]], polls });
    assert.deepEqual([places.length, tags.length, end], [3, 22, 'ended']);
  });

  it('asks less and less often while nothing answers, every fifteen seconds at last, until it is stopped', async () => {
    const stop = new AbortController();
    const pauses: number[] = [];
    const source: RunSource = {
      // oxlint-disable-next-line require-yield -- the stream never begins
      async *read() {
        throw new TypeError('no network');
      },
      poll: () => Promise.reject(new TypeError('no network')),
      pause(ms) {
        if (pauses.push(ms) === 7) stop.abort(new Error('closed'));
        return Promise.resolve();
      },
    };
    const nothing = (): void => undefined;
    await watchRun(source, { onState: nothing, onEvent: nothing, onConnection: nothing }, stop.signal);
    assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  it('leaves a stream that does not begin within ten seconds', async () => {
    const { setTimeout: real } = globalThis;
    const limits: number[] = [];
    globalThis.setTimeout = ((act: () => void, ms: number) => {
      limits.push(ms);
      return real(act, Math.min(ms, 1));
    }) as typeof real;
    let left: unknown;
    const source: RunSource = {
      // oxlint-disable-next-line require-yield -- the stream never begins
      async *read(_after, _onOpen, signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        left = signal.reason;
        throw signal.reason;
      },
      poll: () => Promise.resolve(state(limits.length + 1, limits.length > 0 ? 'succeed' : 'in progress')),
      pause: () => Promise.resolve(),
    };
    const nothing = (): void => undefined;
    try {
      const sink = { onState: nothing, onEvent: nothing, onConnection: nothing };
      await watchRun(source, sink, new AbortController().signal);
    } finally {
      globalThis.setTimeout = real;
    }
    assert.deepEqual([limits, String(left)], [[10_000], 'Error: The stream did not begin.']);
  });

  it('gives up what another attempt cannot help: no such run, no right to see it', async () => {
    const missing = await watch({ polls: [{ ...state(1), status: 'not found' }] });
    assert.ok(missing.end instanceof RunNotFoundError);
    const refused = new ServiceError(new Response('', { status: 403 }), { code: 'permission_denied', detail: '' });
    assert.equal((await watch({ streams: [[refused]] })).end, refused);
  });
});
