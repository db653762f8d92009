import assert from 'node:assert/strict';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createUsageReader, type ReadUsage } from '../../../api/chat/usage-reader.js';

const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json' };
const USAGE = { prompt_tokens: 11, completion_tokens: 7 };

async function read(bytes: Buffer | string, headers: Record<string, string>, pieceBytes = 5): Promise<ReadUsage> {
  const reader = createUsageReader(headers);
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length; at += pieceBytes) await reader.push(all.subarray(at, at + pieceBytes));
  return reader.end();
}

const said = (delta: object, usage?: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta }], ...(usage !== undefined && { usage }) })}`;

describe('the usage in an answer of a provider', () => {
  const stream = [
    ': a comment',
    said({ role: 'assistant', content: 'Grüße ☕' }, { prompt_tokens: 1 }),
    said({
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
    }),
    'data: [DONE]',
  ];

  for (const end of ['\n\n', '\r\n\r\n']) {
    it(`is read from a stream in chunks of any size, with events that end in ${JSON.stringify(end)}`, async () => {
      for (const pieceBytes of [1, 3, 64, 10_000]) {
        const { usage, characters } = await read(stream.join(end), SSE, pieceBytes);
        assert.deepEqual(
          [usage, characters],
          [{ prompt_tokens: 1 }, 'Grüße ☕'.length + 'add'.length + '{"a":1}'.length],
        );
      }
    });
  }

  it('is the last one that has valid counts', async () => {
    const lines = [
      said({}, { prompt_tokens: 1 }),
      said({}, USAGE),
      said({}, { prompt_tokens: '9' }),
      'data: {"usage":null}',
    ];
    assert.deepEqual((await read(lines.join('\n\n'), SSE)).usage, USAGE);
  });

  for (const [encoding, encode] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    it(`is read from ${encoding}, and unknown for an incomplete or invalid body`, async () => {
      const bytes = encode(JSON.stringify({ choices: [{ message: { content: 'abc' } }], usage: USAGE }));
      const headers = { ...JSON_TYPE, 'content-encoding': encoding };
      assert.deepEqual(await read(bytes, headers), {
        usage: USAGE,
        characters: 3,
        brought: 'answer',
        decoded: 'whole',
      });
      const cut = await read(bytes.subarray(0, bytes.length - 9), headers);
      assert.deepEqual([cut.usage, cut.decoded], [undefined, 'cut']);
      const noArchive = await read('{"no archive": "at all"}', headers);
      assert.deepEqual([noArchive.usage, noArchive.decoded], [undefined, 'unknown']);
    });
  }

  it('is unknown for invalid JSON, deep nesting and unknown encodings, without an error', async () => {
    const deep = `{"choices":[{"message":{"content":${'['.repeat(200_000)}${']'.repeat(200_000)}}}]}`;
    for (const text of ['', 'null', '[]', '{"choices":{}}', '{"choices":[null,1,"x"]}', '<html>', deep]) {
      assert.equal((await read(text, JSON_TYPE, 65_536)).usage, undefined);
      assert.equal((await read(`data: ${text}\n\n`, SSE, 65_536)).usage, undefined);
    }
    for (const encoding of ['zstd', 'gzip, br', 'constructor', '__proto__']) {
      const answer = JSON.stringify({ choices: [{ message: { content: 'abc' } }], usage: USAGE });
      const unread = { usage: undefined, characters: 0, brought: 'nothing', decoded: 'unknown' };
      assert.deepEqual(await read(answer, { ...JSON_TYPE, 'content-encoding': encoding }), unread);
    }
    for (const plain of ['identity', 'Identity ', '']) {
      assert.equal((await read('{}', { ...JSON_TYPE, 'content-encoding': plain })).decoded, 'whole');
    }
  });

  it('is read after empty and foreign events, with every kind of line end, and without a final one', async () => {
    const events = [
      ': comment',
      'event: ping\ndata:',
      'data',
      `event: trace\n${said({ content: 'not said' }, { prompt_tokens: 9, completion_tokens: 9 })}`,
      `event: message\n${said({ content: 'abc' })}`,
      'data: {"choices": [],\ndata: "usage": {"prompt_tokens": 11, "completion_tokens": 7}}',
    ].join('\n\n');
    for (const text of [events, events.replaceAll('\n', '\r\n'), events.replaceAll('\n', '\r')]) {
      const { usage, characters, brought } = await read(text, SSE);
      assert.deepEqual([usage, characters, brought], [USAGE, 3, 'answer']);
    }
    const asJson = await read(events, JSON_TYPE);
    assert.deepEqual([asJson.usage, asJson.characters, asJson.brought], [USAGE, 3, 'answer'], 'whatever it is called');
  });

  it('comes with the kind of the answer: text, a failure before any text, or no completion', async () => {
    const failure = { error: { message: 'Upstream is tired', code: 429 } };
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }];
    const broughtBy = async (text: string, type = JSON_TYPE): Promise<string> => (await read(text, type)).brought;
    for (const body of [failure, [failure], { ...failure, choices: [] }, { choices }]) {
      assert.equal(await broughtBy(JSON.stringify(body)), 'failure', JSON.stringify(body));
    }
    for (const body of ['<html>', '{}', '"text"', '', '{"choices":[]}', '{"error":null}']) {
      assert.equal(await broughtBy(body), 'nothing', body);
    }
    const start = `${said({ role: 'assistant', content: '' })}\n\n`;
    for (const end of [
      'event: error\ndata: tired',
      `data: ${JSON.stringify(failure)}`,
      'event: error\ndata: {"a":1}',
    ]) {
      assert.equal(await broughtBy(start + end, SSE), 'failure', end);
      assert.equal(await broughtBy(`${start}${said({ content: 'word' })}\n\n${end}`, SSE), 'answer', end);
    }
    assert.equal(await broughtBy('data: [DONE]\n\n', SSE), 'nothing');
    assert.equal(await broughtBy(start, SSE), 'answer');
  });

  it('is read after a line of more than 4 MiB, of which only the characters are counted', async () => {
    const long = `data: ${'x'.repeat(5 * 1024 * 1024)}\n\n${said({ content: 'abc' }, USAGE)}\n\n`;
    const { usage, characters } = await read(long, SSE, 65_536);
    assert.deepEqual(usage, USAGE);
    assert.ok(characters > 4 * 1024 * 1024, String(characters));
  });

  it('makes its caller wait while a small chunk is decompressed to a large text', async () => {
    const bytes = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const reader = createUsageReader({ ...SSE, 'content-encoding': 'gzip' });
    const mayGoOn = reader.push(bytes.subarray(0, 20_000));
    assert.ok(mayGoOn instanceof Promise);
    await mayGoOn;
    await reader.push(bytes.subarray(20_000));
    assert.equal((await reader.end()).decoded, 'whole');
  });

  it('is unknown for bytes that decompress beyond the limit, and the rest is not decompressed', async () => {
    const bytes = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const reader = createUsageReader({ ...JSON_TYPE, 'content-encoding': 'gzip' }, 1024 * 1024);
    await reader.push(bytes.subarray(0, 20_000));
    assert.equal(reader.push(bytes.subarray(20_000)), undefined, 'it takes the rest, and waits for nothing');
    const { usage, decoded, characters } = await reader.end();
    assert.deepEqual([usage, decoded], [undefined, 'unknown']);
    assert.ok(characters <= 1024 * 1024, String(characters));
  });

  it('makes no caller wait if the bytes are not compressed as declared', async () => {
    const reader = createUsageReader({ ...SSE, 'content-encoding': 'gzip' });
    for (let time = 0; time < 3; time += 1) await reader.push(Buffer.alloc(100_000, 'x'));
    assert.equal((await reader.end()).decoded, 'unknown');
  });
});
