import assert from 'node:assert/strict';
import { AnswerReader } from '../../../../activities/kinds/llm/streamed-completion.js';
import { toLlmFailure } from '../../../../activities/kinds/llm/model-clients.js';
import { UnusableAnswer } from '../../../../activities/kinds/llm/unusable-answer.js';
import { readMessage } from '../../../../activities/kinds/agent/assistant-message.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { cpuMillisecondsUntil } from '../../../support/cpu-time.js';
import { writeJson } from '../../../../graph/json-text.js';
import { NodeFailure } from '../../../../activities/node/failures.js';
import { createMasker } from '../../../../graph/mask.js';

const HEAD = { id: 'c-1', created: 7, model: 'm-1', object: 'chat.completion.chunk' };
const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

const event = (fields: object): string => `data: ${JSON.stringify({ ...HEAD, ...fields })}\n\n`;
const say = (delta: object, finish_reason: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason }] });
const END = `${say({}, 'stop')}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

/** An answer whose body consists of these parts; an error breaks it off. */
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

const masker = createMasker([]);
const isNetworkError = (error: unknown): boolean => toLlmFailure(error, masker).code === 'network_error';

/** Returns the error of an answer that cannot be used. */
async function unusable(parts: (string | Uint8Array | Error)[], type?: string) {
  const error = await read(parts, type).then(
    () => assert.fail('it could be used'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof UnusableAnswer, String(error));
  const { code, message, isRetryable } = toLlmFailure(error, masker);
  return { code, message, isRetryable, usage: error.usage, hasWords: error.hasWords };
}

describe('the answer of a provider that streams', () => {
  it('is there when its stream has said so, and what follows is hung up on after a second', async () => {
    let isHungUp = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(`${say({ content: 'Good day' })}${END}`)),
      cancel: () => void (isHungUp = true),
    });
    const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const whole = (await new AnswerReader(() => undefined).read(response)) as Record<string, unknown>;
    assert.match(writeJson(whole), /Good day/);
    await eventually(() => isHungUp);
  });

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
    const tookMs = await cpuMillisecondsUntil(() =>
      assert.rejects(read([say({ content: 'x' }), 'a\n'.repeat(1_000_000)]), isWrong),
    );
    assert.ok(tookMs < 1_000, `${tookMs} ms`);
  });

  it('is no completion without a body, and nothing was counted', async () => {
    for (const status of [204, 205]) {
      for (const onText of [undefined, () => undefined]) {
        const error = await new AnswerReader(onText).read(new Response(null, { status })).then(
          () => assert.fail('it could be used'),
          (thrown: unknown) => thrown,
        );
        assert.ok(error instanceof UnusableAnswer, String(error));
        const { code, isRetryable } = toLlmFailure(error, masker);
        assert.deepEqual(
          { code, isRetryable, usage: error.usage, hasWords: error.hasWords },
          { code: 'invalid_response', isRetryable: false, usage: undefined, hasWords: false },
        );
      }
    }
  });

  it('may come in one piece, or be no completion at all', async () => {
    const json = { choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] };
    for (const type of ['application/json; charset=utf-8', 'text/plain']) {
      const { told, whole } = await read([JSON.stringify(json)], type);
      assert.deepEqual([told, whole], [[], json]);
    }
    assert.deepEqual((await read([JSON.stringify(json)], 'text/event-stream')).whole, json);
    const page = '<!DOCTYPE html>\n<html>\n<p>Sign in\n</html>\n';
    for (const type of ['text/html', 'text/event-stream', 'application/json', '']) {
      const { code, message, hasWords, usage } = await unusable([page], type);
      assert.deepEqual([code, hasWords, usage], ['invalid_response', false, undefined]);
      assert.match(message, /a page or a text/);
    }
  });

  it('is read where the provider calls its stream JSON', async () => {
    const { told, whole } = await read([say({ content: 'Good ' }), say({ content: 'day' }), END], 'application/json');
    assert.deepEqual([told.join(''), whole['usage']], ['Good day', USAGE]);
  });

  it('passes over empty events and events of other names, and takes a last event without its empty line', async () => {
    const between = [
      'event: ping\ndata:\n\n',
      'event: ping\n\n',
      'data\n\n',
      'data:  \n\n',
      'id: 7\n\n',
      'event: ping\ndata: {}\n\n',
    ];
    const other = `event: trace\n${say({ content: 'not said' }, 'stop')}`;
    const named = `event: message\n${say({ content: 'day' })}`;
    const end = [say({}, 'stop'), event({ choices: [], usage: USAGE }).trimEnd()];
    for (const last of [END, end.join('')]) {
      const { told, whole } = await read([say({ content: 'Good ' }), ...between, other, named, ...between, last]);
      assert.deepEqual([told.join(''), whole['usage']], ['Good day', USAGE]);
    }
  });

  it('is the failure that it tells, as if it had that status, with the sentence of the provider', async () => {
    const tired = (code: unknown) => ({ error: { message: 'Upstream is tired', code } });
    for (const [code, isRetryable] of [
      [429, true],
      ['429', true],
      [503, true],
      [408, true],
      [400, false],
      ['402', false],
    ] as const) {
      const expected = {
        code: 'provider_error',
        message: `The provider answered: ${code} Upstream is tired`,
        isRetryable,
        hasWords: false,
        usage: undefined,
      };
      assert.deepEqual(await unusable([JSON.stringify(tired(code))], 'application/json'), expected);
      assert.deepEqual(await unusable([JSON.stringify([tired(code)])], 'application/json'), expected);
      assert.deepEqual(await unusable([event(tired(code))]), expected);
      assert.deepEqual(await unusable([`event: error\ndata: ${JSON.stringify(tired(code).error)}\n\n`]), expected);
    }
    for (const code of ['server_error', null, undefined, 0, 200, 1_234, '4290', {}]) {
      const whole = await unusable([JSON.stringify(tired(code))], 'application/json');
      assert.deepEqual([whole.code, whole.isRetryable], ['provider_error', false], JSON.stringify(code));
      const streamed = await unusable([event(tired(code))]);
      assert.deepEqual([streamed.code, streamed.isRetryable], ['network_error', true], JSON.stringify(code));
      for (const { message } of [whole, streamed]) assert.match(message, /Upstream is tired$/);
    }
    const text = await unusable(['event: error\ndata: overloaded\n\n']);
    assert.deepEqual([text.code, text.message], ['network_error', 'The stream of the provider has failed: overloaded']);
  });

  it('is a 502 where its finish reason is an error, with the usage that follows', async () => {
    const choices = [{ message: { role: 'assistant', content: '' }, finish_reason: 'error' }];
    const expected = { code: 'provider_error', message: 'The provider answered: 502 Bad Gateway', isRetryable: true };
    const whole = await unusable([JSON.stringify({ choices })], 'application/json');
    assert.deepEqual(whole, { ...expected, usage: undefined, hasWords: false });
    const end = event({ choices: [], usage: USAGE });
    const streamed = await unusable([
      say({ role: 'assistant', content: '' }),
      say({}, 'error'),
      end,
      'data: [DONE]\n\n',
    ]);
    assert.deepEqual(streamed, { ...expected, usage: USAGE, hasWords: false });
    const said = { code: 429, message: 'slow down' };
    const ofChoice = { choices: [{ index: 0, delta: { content: '' }, error: said, finish_reason: 'error' }] };
    assert.equal((await unusable([event(ofChoice)])).message, 'The provider answered: 429 slow down');
  });

  it('has cost something where it had brought text or calls before it failed', async () => {
    const failed = event({ error: { message: 'tired', code: 503 } });
    const words = [
      { content: 'half' },
      { reasoning_content: 'hm' },
      { refusal: 'no' },
      { content: [{ type: 'text', text: 'half' }] },
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'add', arguments: '' } }] },
    ];
    for (const delta of words) {
      assert.equal((await unusable([say(delta), failed])).hasWords, true, JSON.stringify(delta));
      const whole = JSON.stringify({ choices: [{ message: delta, finish_reason: 'error' }] });
      assert.equal((await unusable([whole], 'application/json')).hasWords, true, whole);
    }
    const none = [{}, { role: 'assistant', content: '' }, { content: null, tool_calls: [] }, { function_call: null }];
    for (const delta of none) {
      assert.equal((await unusable([say(delta), failed])).hasWords, false, JSON.stringify(delta));
      const whole = JSON.stringify({ choices: [{ message: delta, finish_reason: 'error' }] });
      assert.equal((await unusable([whole], 'application/json')).hasWords, false, whole);
    }
    assert.deepEqual((await unusable([event({ choices: [], usage: USAGE }), failed])).usage, USAGE);
  });

  it('is no failure where its error says nothing', async () => {
    const empty = [null, false, '', {}, { code: 0, message: '' }];
    for (const error of empty) {
      const { whole } = await read([event({ error, choices: [{ index: 0, delta: { content: 'x' } }] }), END]);
      assert.equal((whole['choices'] as { message: { content: string } }[])[0]!.message.content, 'x');
    }
  });
});
