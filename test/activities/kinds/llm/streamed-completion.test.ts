import assert from 'node:assert/strict';
import { APIConnectionError } from 'openai';
import { AnswerReader } from '../../../../activities/kinds/llm/streamed-completion.js';
import { readMessage } from '../../../../activities/kinds/agent/assistant-message.js';
import { writeJson } from '../../../../graph/json-text.js';
import { NodeFailure } from '../../../../activities/node/failures.js';

const HEAD = { id: 'c-1', created: 7, model: 'm-1', object: 'chat.completion.chunk' };
const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

const event = (fields: object): string => `data: ${JSON.stringify({ ...HEAD, ...fields })}\n\n`;
const say = (delta: object, finish_reason: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason }] });
const END = `${say({}, 'stop')}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

/** A body that is sent in these parts; an error breaks it off. */
function answer(parts: (string | Uint8Array | Error)[], type = 'text/event-stream'): Response {
  const left = [...parts];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(typeof part === 'string' ? Buffer.from(part) : part);
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

async function read(parts: (string | Uint8Array | Error)[], type?: string) {
  const told: string[] = [];
  const whole = (await new AnswerReader((text) => told.push(text)).read(answer(parts, type))) as Record<
    string,
    unknown
  >;
  return { told, whole };
}

const isNetworkError = (error: unknown): boolean => error instanceof APIConnectionError;

describe('the answer of a provider that streams', () => {
  it('is what it would have been in one piece, and its content is told as it comes', async () => {
    const { told, whole } = await read([
      say({ role: 'assistant', content: '' }),
      say({ content: 'Good ' }),
      say({ content: 'day' }),
      END,
    ]);
    assert.deepEqual(told, ['Good ', 'day']);
    assert.deepEqual(whole, {
      id: 'c-1',
      created: 7,
      model: 'm-1',
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Good day' }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: USAGE,
    });
  });

  it('is the same for every cut of its bytes, with line ends of each kind and comments', async () => {
    const lines = `: hello\n\n${say({ content: 'naïve 😀 ' })}${say({ content: 'ok' })}${END}`;
    for (const text of [lines, lines.replaceAll('\n', '\r\n'), lines.replaceAll('\n', '\r')]) {
      const bytes = Buffer.from(text);
      for (const size of [1, 2, 7, bytes.length]) {
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const { told, whole } = await read(parts);
        assert.equal(told.join(''), 'naïve 😀 ok');
        assert.deepEqual(whole['usage'], USAGE);
      }
    }
  });

  it('has tool calls with their arguments, numbered or not, and what else the model says', async () => {
    const call = (fields: object): string => say({ tool_calls: [fields] });
    const numbered = [
      call({ index: 0, id: 'a', type: 'function', function: { name: 'add', arguments: '' } }),
      call({ index: 1, id: 'b', type: 'function', function: { name: 'note', arguments: '{"x"' } }),
      call({ index: 0, function: { arguments: '{"y":2}' } }),
      call({ index: 1, function: { arguments: ':1}' } }),
    ];
    const unnumbered = [
      call({ id: 'a', function: { name: 'add', arguments: '{"y"' } }),
      call({ id: 'a', function: { arguments: ':2}' } }),
      call({ id: 'b', function: { name: 'note', arguments: '{"x":1}' } }),
    ];
    for (const calls of [numbered, unnumbered]) {
      const { whole } = await read([
        say({ content: null, reasoning_content: 'hm' }),
        ...calls,
        say({ refusal: 'no' }),
        END,
      ]);
      assert.deepEqual(readMessage(whole)?.message, {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        refusal: 'no',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'add', arguments: '{"y":2}' } },
          { id: 'b', type: 'function', function: { name: 'note', arguments: '{"x":1}' } },
        ],
      });
    }
  });

  it('keeps numbers as they were written, in fields that only the provider knows, too', async () => {
    const { whole } = await read([
      say({ content: 'x' }).replace('"content"', '"seed":12345678901234567890,"content"'),
      END,
    ]);
    assert.ok(writeJson(whole).includes('"seed":12345678901234567890'));
    const { whole: inOnePiece } = await read(['{"choices":[{"message":{"seed":1e999}}]}'], 'application/json');
    assert.equal(writeJson(inOnePiece), '{"choices":[{"message":{"seed":1e999}}]}');
  });

  it('is whole with its finish reason, whatever happens to the connection then', async () => {
    const { whole } = await read([say({ content: 'all' }, 'length'), new Error('reset')]);
    assert.deepEqual([(whole['choices'] as unknown[]).length, whole['usage']], [1, undefined]);
  });

  it('is a network error where it breaks off, ends without a finish reason, or says that it has failed', async () => {
    const broken = [
      [new Error('reset')],
      [say({ content: 'half' }), new Error('reset')],
      [say({ content: 'half' })],
      [say({ content: 'half' }), 'data: [DONE]\n\n'],
      [say({ content: 'half' }), 'data: {"error": {"message": "overloaded"}}\n\n'],
      [say({ content: 'half' }), 'event: error\ndata: overloaded\n\n'],
      [say({ content: 'half' }), 'data: {"choices": [\n\n', END],
      [],
      [': still at work\n\n'],
    ];
    for (const parts of broken) await assert.rejects(read(parts), isNetworkError, JSON.stringify(parts));
  });

  it('is refused where its text or one event of it is larger than 32 MiB', async () => {
    const much = 'x'.repeat(4 * 1024 * 1024);
    const isTooLarge = (error: unknown): boolean => error instanceof NodeFailure && error.code === 'response_too_large';
    const events = Array.from({ length: 9 }, () => say({ content: much }));
    const oneEvent = ['data: ', ...Array.from({ length: 9 }, () => much)];
    const asJson = Array.from({ length: 9 }, () => much);
    await assert.rejects(read(events), isTooLarge);
    await assert.rejects(read(oneEvent), isTooLarge);
    await assert.rejects(read(asJson, 'application/json'), isTooLarge);
    const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
    const names = Array.from({ length: 9 }, (_, index) => index);
    const hidden = [
      names.map((name) => chunk({ [`fact ${name}`]: much })),
      Array.from({ length: 60 }, (_, index) => chunk({ [`fact ${index}`]: index })),
      names.map((name) => say({ [`part ${name}`]: [much] })),
      names.map((name) => say({ [`${name}${much}`]: 'x' })),
      names.map((index) => say({ tool_calls: [{ index, id: `${index}${much}` }] })),
      names.map(() => `:${much}\n`),
    ];
    for (const parts of hidden) await assert.rejects(read([say({ content: 'x' }), ...parts]), isTooLarge);
  });

  it('is refused where its lines are none of the format, which cost much time', async () => {
    const isWrong = (error: unknown): boolean => error instanceof NodeFailure && error.code === 'invalid_response';
    const startedAt = performance.now();
    await assert.rejects(read([say({ content: 'x' }), 'a\n'.repeat(1_000_000)]), isWrong);
    assert.ok(performance.now() - startedAt < 1_000);
  });

  it('may come in one piece, or be no completion at all', async () => {
    const json = { choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] };
    for (const type of ['application/json; charset=utf-8', 'text/plain']) {
      const { told, whole } = await read([JSON.stringify(json)], type);
      assert.deepEqual([told, whole], [[], json]);
    }
    assert.equal((await read(['<html>'], 'text/html')).whole, '<html>');
    assert.deepEqual((await read([JSON.stringify(json)], 'text/event-stream')).whole, json);
  });
});
