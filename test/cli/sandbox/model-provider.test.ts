import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { startSandboxProvider } from '../../../cli/sandbox/model-provider.js';
import type { HttpServer } from '../../../cli/sandbox/http-server.js';

describe('the stand-in model provider', () => {
  let server: HttpServer;
  let client: OpenAI;
  const messages = [{ role: 'user' as const, content: 'How are the sales?' }];

  before(async () => {
    server = await startSandboxProvider();
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });
  after(() => server.close());

  it('answers the official client with a labelled echo and its usage', async () => {
    const completion = await client.chat.completions.create({ model: 'sandbox-echo', messages });
    assert.equal(completion.choices[0]?.message.content, '[sandbox] How are the sales?');
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    const { prompt_tokens: prompt, completion_tokens: answer, total_tokens: total } = completion.usage!;
    assert.ok(prompt > 0 && answer > 0 && total === prompt + answer);
  });

  it('says of images and PDF what they are and how many bytes it was given', async () => {
    const uri = (type: string, bytes: number): string =>
      `data:${type};base64,${Buffer.alloc(bytes).toString('base64')}`;
    const content = [
      { type: 'text' as const, text: 'Look.' },
      { type: 'image_url' as const, image_url: { url: uri('image/png', 12_000_001) } },
      { type: 'file' as const, file: { filename: 'a.pdf', file_data: uri('application/pdf', 7) } },
    ];
    const asked = { model: 'sandbox-echo', messages: [{ role: 'user' as const, content }] };
    const { choices, usage } = await client.chat.completions.create(asked);
    const said = '[sandbox] [image/png, 12000001 bytes] [a.pdf: application/pdf, 7 bytes] Look.';
    assert.equal(choices[0]?.message.content, said);
    assert.ok(usage!.prompt_tokens < 100);
  });

  it('streams the same answer, and the usage on request', async () => {
    const stream = await client.chat.completions.create({
      model: 'sandbox-echo',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      total += chunk.usage?.total_tokens ?? 0;
    }
    assert.equal(text, '[sandbox] How are the sales?');
    assert.ok(total > 0);
  });

  it('calls the tool that the user names, with the arguments in the message, and then says what the tool said', async () => {
    const tools = ['echo', 'get-sum', 'get'].map((name) => ({ type: 'function' as const, function: { name } }));
    const content = 'Call get-sum with {"a": 2, "b": 3}, please.';
    const asked = { model: 'sandbox-echo', tools, messages: [{ role: 'user' as const, content }] };
    const { choices } = await client.chat.completions.create(asked);
    const message = choices[0]!.message;
    assert.equal(choices[0]!.finish_reason, 'tool_calls');
    assert.equal(message.content, null);
    const [call, ...more] = message.tool_calls ?? [];
    assert.ok(call?.type === 'function' && more.length === 0);
    assert.deepEqual(call.function, { name: 'get-sum', arguments: '{"a":2,"b":3}' });
    const answer = { role: 'tool' as const, tool_call_id: call.id, content: '5' };
    const next = await client.chat.completions.create({ ...asked, messages: [...asked.messages, message, answer] });
    assert.equal(next.choices[0]!.message.content, '[sandbox] The tool said: 5');
    const twice = { role: 'user' as const, content: 'Call get, then get-sum with {"a": "echo"}, then say echo.' };
    const callsOf = async (answers: number): Promise<string[]> => {
      const told = Array.from({ length: answers }, () => [message, answer]).flat();
      const { choices: given } = await client.chat.completions.create({ ...asked, messages: [twice, ...told] });
      return (given[0]!.message.tool_calls ?? []).map((each) =>
        each.type === 'function' ? `${each.function.name} ${each.function.arguments}` : '',
      );
    };
    assert.deepEqual(
      [await callsOf(0), await callsOf(1), await callsOf(2), await callsOf(3)],
      [['get {}'], ['get-sum {"a":"echo"}'], ['echo {}'], []],
    );
    const unnamed = [{ role: 'user' as const, content: 'How are the sales?' }];
    const plain = await client.chat.completions.create({ ...asked, messages: unnamed });
    assert.equal(plain.choices[0]!.message.content, '[sandbox] How are the sales?');
  });

  it('fills the JSON object that the system message shows, the same way each time', async () => {
    const system = 'Answer with {"verdict": "publish|discard", "score": "0-10", "reason": "a sentence"} only.';
    const ask = async (content: string): Promise<unknown> => {
      const asked = [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content },
      ];
      const completion = await client.chat.completions.create({ model: 'sandbox-echo', messages: asked });
      return JSON.parse(completion.choices[0]?.message.content ?? '');
    };
    assert.deepEqual(await ask('discard it'), {
      verdict: 'discard',
      score: 10,
      reason: '[sandbox] discard it',
      provider: '[sandbox]',
    });
    assert.deepEqual(await ask('no preference'), await ask('no preference'));
  });

  it('fills the schema of a response_format, and adds nothing to it', async () => {
    const schema = {
      type: 'object',
      properties: {
        category: { type: 'string', enum: ['billing', 'technical'] },
        score: { type: 'integer', minimum: 1, maximum: 5 },
        isUrgent: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        about: { type: 'object', properties: { summary: { type: ['string', 'null'] } } },
      },
    };
    const { choices } = await client.chat.completions.create({
      model: 'sandbox-echo',
      messages: [{ role: 'user', content: 'A technical question' }],
      response_format: { type: 'json_schema', json_schema: { name: 'ticket', schema } },
    });
    assert.deepEqual(JSON.parse(choices[0]!.message.content!), {
      category: 'technical',
      score: 1,
      isUrgent: true,
      tags: [],
      about: { summary: '[sandbox] A technical question' },
    });
  });

  it('refuses in the shape of the protocol', async () => {
    await assert.rejects(client.chat.completions.create({ model: 'gpt-9', messages }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
    await assert.rejects(
      client.chat.completions.create({ model: 'sandbox-echo', messages: [] }),
      OpenAI.BadRequestError,
    );
  });

  it('streams the tool calls of an agent, in parts', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'add', parameters: {} } }];
    const asked = {
      model: 'sandbox-echo',
      tools,
      messages: [{ role: 'user' as const, content: 'add {"a": 2, "b": 3}' }],
    };
    const whole = await client.chat.completions.create(asked);
    const streamed = await client.chat.completions
      .stream({ ...asked, stream_options: { include_usage: true } })
      .finalChatCompletion();
    const callsIn = ({ choices: [choice] }: typeof whole) =>
      choice!.message.tool_calls!.map(
        (call) => call.type === 'function' && [call.function.name, call.function.arguments],
      );
    assert.deepEqual(callsIn(streamed), [['add', '{"a":2,"b":3}']]);
    assert.deepEqual(callsIn(streamed), callsIn(whole));
    assert.deepEqual([streamed.choices[0]?.finish_reason, streamed.usage], ['tool_calls', whole.usage]);
  });
});
