import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { McpError } from '../../outgoing/mcp-error.js';
import { limitBody, limitEvents, MAX_STREAM_BYTES, type StreamEnd } from '../../outgoing/message-limits.js';
import type { MessageSize, Reserve } from '../../outgoing/message-size.js';
import { eventually } from '../../harness/timing/eventually.js';

const MIB = 1024 * 1024;
/** Reserves memory without a limit, for tests of other limits. */
const FREE = () => undefined;

function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      controller.close();
    },
  });
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of stream as unknown as AsyncIterable<Uint8Array>) parts.push(Buffer.from(part).toString());
  return parts;
}

async function readEvents(...chunks: (string | Uint8Array)[]): Promise<{ parts: string[]; ends: StreamEnd[] }> {
  const ends: StreamEnd[] = [];
  return { parts: await readAll(limitEvents(streamOf(...chunks), FREE, (end) => ends.push(end))), ends };
}

async function isResumable(...chunks: string[]): Promise<boolean> {
  return (await readEvents(...chunks)).ends[0]!.isResumable;
}

describe('limits of MCP messages', () => {
  it('pass on each event whole, however its bytes are cut and its lines end', async () => {
    for (const text of ['data: a\n\ndata: b\n\n', 'data: a\r\n\r\ndata: b\r\n\r\n', 'data: a\r\rdata: b\r\r']) {
      const whole = await readEvents(text);
      assert.deepEqual(whole.parts, [text]);
      const bytes = await readEvents(...Array.from(text));
      assert.equal(bytes.parts.join(''), text);
      assert.match(bytes.parts[0]!, /^data: a(\n\n|\r\n\r\n?|\r\r)$/);
    }
  });

  it('keep back what never becomes an event, and say how the stream ended', async () => {
    const { parts, ends } = await readEvents('data: a\n\ndata: ha', 'lf');
    assert.deepEqual(parts, ['data: a\n\n']);
    assert.deepEqual(ends, [{ error: undefined, isResumable: false }]);
  });

  it('know a stream that can be resumed by the ids of its events', async () => {
    assert.equal(await isResumable('data: 1\ni', 'd: 7\n\n'), true);
    assert.equal(await isResumable('\uFEFFid: 7\r\ndata\r\n\r\n'), true);
    assert.equal(await isResumable('id: 7\rdata:\r\r', ': more'), true);
    assert.equal(await isResumable('data: id: 7\nidea: x\nxid: 1\n\n'), false);
  });

  // The SDK begins to resume with the first event that has an id and data. After any other end it waits in silence.
  it('know a stream that broke before its first complete event with an id and data', async () => {
    for (const text of [
      'id: 7\ndata: 1',
      'id: 7\ndata: 1\n',
      'id: 7\rdata: 1\r\r',
      'id: 7\n\ndata: 1\n\n',
      'id:\ndata: 1\n\n',
      'id: \ndata: 1\n\n',
      'id\ndata: 1\n\n',
      'id: 7\nid:\ndata: 1\n\n',
      'id: 7\0\ndata: 1\n\n',
    ]) {
      assert.equal(await isResumable(text), false, JSON.stringify(text));
      assert.equal(await isResumable(...Array.from(text)), false, JSON.stringify(text));
    }
  });

  it('agree with the parser of the SDK on which events have an id and data', async () => {
    const lines = ['id: 7', 'id:', 'id: ', 'id', 'id:8', 'data: 1', 'data:', 'data', 'data : 1', 'event: x', ': c', ''];
    for (let seed = 0; seed < 2_000; seed += 1) {
      const picked = Array.from(
        { length: 6 },
        (_, at) => lines[(seed * 7919 + at * at * 31 + (seed >> at)) % lines.length]!,
      );
      const text = picked.join(['\n', '\r\n', '\r'][seed % 3]) + (seed % 2 === 0 ? '\n' : '');
      let wouldResume = false;
      const parser = createParser({ onEvent: ({ id }) => (wouldResume ||= (id ?? '') !== '') });
      parser.feed(text);
      assert.equal(await isResumable(text), wouldResume, JSON.stringify(text));
    }
  });

  it('break a stream whose event grows beyond 10 MiB, at once and whatever its pieces', async () => {
    for (const size of [MIB, 16 * 1024]) {
      const ends: StreamEnd[] = [];
      let given = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          given += size;
          controller.enqueue(Buffer.alloc(size, 'x'));
        },
      });
      await assert.rejects(readAll(limitEvents(endless, FREE, (end) => ends.push(end))), {
        code: 'response_too_large',
      });
      assert.ok(given <= 12 * MIB);
      assert.equal(ends[0]!.error?.code, 'response_too_large');
    }
  });

  it('break a stream whose events are larger than 100 MiB together, however small each is', async () => {
    assert.equal(MAX_STREAM_BYTES, 100 * MIB);
    const event = Buffer.from(`data: "${'x'.repeat(1_000)}"\n\n`);
    const ends: StreamEnd[] = [];
    let given = 0;
    let isStopped = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += event.length;
        controller.enqueue(event);
      },
      cancel: () => void (isStopped = true),
    });
    await assert.rejects(readAll(limitEvents(endless, FREE, (end) => ends.push(end), 64 * 1024)), {
      code: 'response_too_large',
      message: 'The MCP server does not stop sending messages.',
    });
    assert.ok(given <= 64 * 1024 + 2 * event.length, `${given} bytes`);
    assert.equal(ends[0]?.error?.code, 'response_too_large');
    await eventually(() => isStopped);
  });

  it('break a stream of more than 10,000 messages; what only keeps the connection open is no message', async () => {
    const stopped = { code: 'response_too_large', message: 'The MCP server does not stop sending messages.' };
    for (const kept of [': ping\n\n', '\n', 'event: ping\n\n', 'id: 7\r\n\r\n', 'retry: 10\n\n']) {
      const { ends } = await readEvents(kept.repeat(20_000), 'data: last\n\n');
      assert.equal(ends[0]!.error, undefined, JSON.stringify(kept));
    }
    await assert.rejects(readEvents('data: x\n\n'.repeat(10_001)), stopped);
    assert.equal((await readEvents('data: x\n\n'.repeat(10_000))).ends[0]!.error, undefined);
  });

  it('hand a body of 10 MiB on in one piece, however small its pieces, and take no byte more', async () => {
    const piece = Buffer.alloc(1024, 'x');
    const pieces = (last: string): ReadableStream<Uint8Array> => {
      let left = (10 * MIB) / piece.length;
      return new ReadableStream({
        pull(controller) {
          if (left-- > 0) return controller.enqueue(piece);
          if (last !== '') controller.enqueue(Buffer.from(last));
          controller.close();
        },
      });
    };
    const [body] = await readAll(limitBody(pieces(''), FREE));
    assert.equal(body!.length, 10 * MIB);
    await assert.rejects(readAll(limitBody(pieces('x'), FREE)), McpError);
  });

  it('refuse a message with too many values, too deep or of too many members before it is parsed, whatever its form', async () => {
    const refused: [text: string, error: object][] = [
      [`{"tools":[${'{},'.repeat(100_001)}{}]}`, { code: 'response_too_large', message: /200000 values/ }],
      [`{"numbers":[${'1,'.repeat(200_001)}1]}`, { code: 'response_too_large' }],
      [`{"deep":${'['.repeat(203)}`, { code: 'mcp_protocol', message: /nested deeper than 200/ }],
      [`[${'0,'.repeat(1_001)}0]`, { code: 'response_too_large' }],
    ];
    for (const [text, error] of refused) {
      await assert.rejects(readAll(limitBody(streamOf(text), FREE)), error);
      await assert.rejects(readAll(limitBody(streamOf(...(text.match(/.{1,977}/g) ?? [])), FREE)), error);
      const events = readAll(
        limitEvents(streamOf(`event: "\r\n: it's "quoted\ndata: ${text}\n\n`), FREE, () => undefined),
      );
      await assert.rejects(events, error);
    }
  });

  it('count what a message holds, whatever brackets stand in the lines beside it', async () => {
    for (const beside of [`: ${']'.repeat(500)}`, `event: ${']'.repeat(500)}`, `: ${'['.repeat(100)}`]) {
      const read = (text: string) =>
        readAll(limitEvents(streamOf(`${beside}\ndata: ${text}\n\n`), FREE, () => undefined));
      await assert.rejects(read('['.repeat(203)), { code: 'mcp_protocol' });
      await assert.rejects(read(`[${'0,'.repeat(1_001)}0]`), { code: 'response_too_large' });
      assert.equal((await read(`${'['.repeat(200)}${']'.repeat(200)}`)).length, 1);
    }
    const unbalanced = `${']'.repeat(500)}${'['.repeat(203)}`;
    await assert.rejects(readAll(limitBody(streamOf(unbalanced), FREE)), { code: 'mcp_protocol' });
  });

  it('count no text as values, and each message by itself', async () => {
    const text = JSON.stringify({ text: '{[,"\\'.repeat(100_000) });
    assert.deepEqual(await readAll(limitBody(streamOf(text), FREE)), [text]);
    const message = `data: [${'{},'.repeat(90_000)}{}]\n\n`.replace('[', '{"tools":[').replace(']\n', ']}\n');
    const { parts, ends } = await readEvents(message, message, message);
    assert.equal(parts.join(''), message.repeat(3));
    assert.deepEqual(ends, [{ error: undefined, isResumable: false }]);
  });

  it('ask for the memory of a message before more of it is held, and read nothing more until it is granted', async () => {
    for (const limit of [
      limitBody,
      (source: AsyncIterable<Uint8Array>, reserve: Reserve) => limitEvents(source, reserve, () => undefined),
    ]) {
      const asked: MessageSize[] = [];
      let read = 0;
      let grant = (): void => undefined;
      async function* chunks() {
        for (const chunk of ['data: {"a":', '[{},{}', ',{}]}\n\n']) {
          read += 1;
          yield Buffer.from(chunk);
          await Promise.resolve();
        }
      }
      const all = readAll(
        limit(chunks(), (size) => {
          asked.push(size);
          return asked.length === 2 ? new Promise<void>((resolve) => (grant = resolve)) : undefined;
        }),
      );
      await eventually(() => asked.length === 2);
      await turnOfTheLoop();
      assert.deepEqual(
        [read, asked],
        [
          2,
          [
            { bytes: 11, values: 1 },
            { bytes: 17, values: 5 },
          ],
        ],
      );
      grant();
      assert.equal((await all).join(''), 'data: {"a":[{},{},{}]}\n\n');
      assert.deepEqual(asked[2], { bytes: 24, values: 7 });
    }
  });

  it('say that a connection broke instead of what the network said', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('secret details')) });
    await assert.rejects(readAll(limitBody(broken, FREE)), {
      code: 'mcp_unreachable',
      message: /before it had answered/,
    });
  });
});
