// Tests `followRun` and `readRunEvents` with a service, or a proxy before it, that refuses requests, stops sending, or
// never ends a line.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import {
  createClient,
  EventTooLargeError,
  followRun,
  readRunEvents,
  ServiceError,
  waitForRun,
  type RunEvent,
} from '../../clients/typescript/src/index.js';
import { READ_LIMITS } from '../../clients/typescript/src/events.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../harness/target/http-target.js';
import { startRawServer, type RawServer } from '../support/raw-server.js';

const EVENTS = '/api/v1/workflows/workflow_result/events/';
const POLL = '/api/v1/workflows/workflow_result/';
const RUN_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
const stream = (body: string): TargetReply => ({ headers: { 'content-type': 'text/event-stream' }, body });
const node = (version: number): string =>
  `id: ${version}\nevent: node\ndata: {"id":"n","path":"","status":"succeed"}\n\n`;
const end = (version: number): string => `id: ${version}\nevent: run\ndata: {"status":"succeed"}\n\n`;
const throttled = (seconds: number): TargetReply => ({
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': String(seconds) },
  body: { detail: 'Request was throttled.', code: 'throttled' },
});

describe('the TypeScript client: the events of a run', function () {
  this.timeout(120_000);
  let target: HttpTarget;

  beforeEach(async () => {
    target = await startHttpTarget();
  });
  afterEach(() => target.close());

  /** A client that attempts each request once. */
  const clientOf = (baseUrl: string) => createClient({ baseUrl, apiKey: 'wfa_key', maxAttempts: 1 });

  /** `begun` resolves when the client starts to wait for `ms`. `restore` puts the real timer back. */
  function waitingFor(ms: number): { begun: Promise<void>; restore: () => void } {
    const { setTimeout: real } = globalThis;
    const restore = (): void => void (globalThis.setTimeout = real);
    const begun = new Promise<void>((resolve) => {
      globalThis.setTimeout = ((act: () => void, delayMs: number) => {
        if (delayMs === ms) resolve();
        return real(act, delayMs);
      }) as typeof real;
    });
    return { begun, restore };
  }

  async function all(events: AsyncGenerator<RunEvent>): Promise<number[]> {
    const versions: number[] = [];
    for await (const { version } of events) versions.push(version);
    return versions;
  }

  it('waits as long as a 429 says, and goes on behind the last event', async () => {
    target.on(EVENTS, [stream(node(3)), throttled(3), stream(node(4) + end(5))]);
    const startedAt = performance.now();
    assert.deepEqual(await all(followRun(clientOf(target.url), RUN_ID)), [3, 4, 5]);
    assert.ok(performance.now() - startedAt >= 3_900, 'a pause of one second and one of three');
    assert.deepEqual(
      target.requestsTo(EVENTS).map(({ headers }) => headers['last-event-id']),
      [undefined, '3', '3'],
    );
  });

  it('ends a wait of any length with its signal, and ends at other refusals', async () => {
    for (const seconds of [3_600, 10 ** 12]) {
      target.on(EVENTS, throttled(seconds));
      const stop = new AbortController();
      const anHour = waitingFor(3_600_000);
      try {
        const following = all(followRun(clientOf(target.url), RUN_ID, { signal: stop.signal }));
        await Promise.race([anHour.begun, following]);
        stop.abort(new Error('enough'));
        await assert.rejects(following, /enough/);
      } finally {
        anHour.restore();
      }
    }
    target.on(EVENTS, { status: 403, headers: { 'content-type': 'application/json' }, body: { detail: 'No.' } });
    const refused = all(followRun(clientOf(target.url), RUN_ID));
    await assert.rejects(refused, (error) => error instanceof ServiceError && error.status === 403);
  });

  it('asks again when an end comes without its data, three times, and then takes it as it is', async () => {
    target.on(POLL, { body: { status: 200, data: { id: RUN_ID, status: 'succeed', data: {} } } });
    const { setTimeout: real } = globalThis;
    const waits: number[] = [];
    globalThis.setTimeout = ((act: () => void, ms: number) => {
      if (ms === 2_500) waits.push(ms);
      return real(act, ms === 2_500 ? 1 : ms);
    }) as typeof real;
    try {
      assert.deepEqual((await waitForRun(clientOf(target.url), RUN_ID)).nodes, {});
    } finally {
      globalThis.setTimeout = real;
    }
    assert.deepEqual([target.requestsTo(POLL).length, waits.length], [4, 3]);
  });

  describe('of one connection', () => {
    let server: RawServer;
    let answer: (socket: Socket) => void;

    before(async () => void (server = await startRawServer((socket) => answer(socket))));
    after(() => server.close());

    it('end when nothing has come for 45 seconds, before their first byte and behind it', async () => {
      assert.equal(READ_LIMITS.silenceMs, 45_000);
      for (const begin of ['', HEAD, `${HEAD}${node(1)}`]) {
        let isHungUp = false;
        answer = (socket) => {
          socket.once('close', () => (isHungUp = true));
          socket.write(begin);
        };
        const read = all(readRunEvents(clientOf(server.url), RUN_ID, { silenceMs: 300 }));
        await assert.rejects(read, /Nothing has come for 300 ms/, begin);
        await eventually(() => isHungUp);
      }
    });

    it('end where an event never ends, in one line or in many, and comments of any number are passed over', async () => {
      assert.equal(READ_LIMITS.maxEventCharacters, 256 * 1024 * 1024);
      const maxEventCharacters = 100_000;
      for (const piece of ['x'.repeat(1_000), `data: ${'x'.repeat(1_000)}\n`, `:${'x'.repeat(1_000)}`]) {
        let isHungUp = false;
        answer = (socket) => {
          socket.once('close', () => (isHungUp = true));
          socket.write(`${HEAD}${piece.startsWith('x') ? 'data: ' : ''}`);
          const write = (): void => {
            while (!socket.destroyed && socket.write(piece));
          };
          socket.on('drain', write);
          write();
        };
        const read = all(readRunEvents(clientOf(server.url), RUN_ID, { maxEventCharacters }));
        await assert.rejects(read, EventTooLargeError);
        await eventually(() => isHungUp);
        const followed = all(followRun(clientOf(server.url), RUN_ID, { maxEventCharacters }));
        await assert.rejects(followed, EventTooLargeError, 'another connection would bring the same');
      }
      const comments = `:${'x'.repeat(1_000)}\n`.repeat(300);
      answer = (socket) => void socket.end(`${HEAD}${comments}${node(1)}${comments}${end(2)}`);
      assert.deepEqual(await all(readRunEvents(clientOf(server.url), RUN_ID, { maxEventCharacters })), [1, 2]);
    });
  });
});
