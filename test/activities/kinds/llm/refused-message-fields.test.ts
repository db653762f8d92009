import assert from 'node:assert/strict';
import { APIConnectionError, APIError } from 'openai';
import type OpenAI from 'openai';
import { createRefusedFields } from '../../../../activities/kinds/llm/refused-fields.js';
import { askWithoutRefused } from '../../../../activities/kinds/llm/refused-message-fields.js';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

const refusal = (message: string, status = 400): APIError =>
  APIError.generate(status, { error: { message } }, undefined, new Headers());

const call = { id: 'a', type: 'function', function: { name: 'add', arguments: '{}', strict: true }, extra_content: {} };
const said = { role: 'assistant', content: null, reasoning: 'hm', seed: 1, audio: null, tool_calls: [call] };
const body = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Hi', reasoning: 'mine' },
    said,
    { role: 'tool', tool_call_id: 'a', content: '1' },
  ],
} as unknown as Body;

/** A provider that gives these answers in order, and then repeats the last one. */
function provider(...ways: (APIError | 'answer')[]) {
  const bodies: Body[] = [];
  const refused = createRefusedFields();
  const ask = (sent: Body): Promise<string> => {
    bodies.push(sent);
    const way = ways[Math.min(bodies.length - 1, ways.length - 1)]!;
    return way === 'answer' ? Promise.resolve(way) : Promise.reject(way);
  };
  /** The assistant messages that were sent. */
  const sent = (): unknown[] => bodies.map(({ messages }) => messages[1]);
  return { complete: () => askWithoutRefused(refused, body, ask), sent, bodies };
}

describe('a call whose provider refuses a field of an assistant message', () => {
  it('is repeated once without it, and the field stays out, of assistant messages alone', async () => {
    const { complete, sent, bodies } = provider(refusal("property 'reasoning' is unsupported"), 'answer');
    const { reasoning: _reasoning, ...accepted } = said;
    assert.equal(await complete(), 'answer');
    assert.equal(await complete(), 'answer');
    assert.deepEqual(sent(), [said, accepted, accepted]);
    for (const { messages } of bodies)
      assert.deepEqual([messages[0], messages[2]], [body.messages[0], body.messages[2]]);
  });

  it('is repeated without a field of its tool calls', async () => {
    const unknown = 'messages[1].tool_calls[0].extra_content: Extra inputs are not permitted';
    const { complete, sent } = provider(refusal(unknown, 422), refusal("unknown field 'strict'"), 'answer');
    await complete();
    const { extra_content: _extra, ...rest } = call;
    assert.deepEqual(sent(), [
      said,
      { ...said, tool_calls: [rest] },
      { ...said, tool_calls: [{ ...rest, function: { name: 'add', arguments: '{}' } }] },
    ]);
  });

  it('is not repeated for what a message needs, for other refusals and for errors of the network', async () => {
    const errors = [
      refusal('content, name, type, role and tool_calls are wrong'),
      refusal('reasoning is unsupported', 429),
      refusal('The context is too long.'),
      new APIConnectionError({ message: 'reasoning' }),
    ];
    for (const error of errors) {
      const { complete, bodies } = provider(error);
      await assert.rejects(complete(), (thrown) => thrown === error);
      assert.equal(bodies.length, 1);
    }
  });

  it('is given up where the provider misses the field, which is sent again the next time', async () => {
    const missing = refusal('reasoning is missing in an assistant message');
    const { complete, sent } = provider(missing, missing, 'answer');
    await assert.rejects(complete(), (error) => error === missing);
    await complete();
    const { reasoning: _reasoning, ...without } = said;
    assert.deepEqual(sent(), [said, without, said]);
  });

  it('is repeated at most three times', async () => {
    const fields = ['reasoning', 'seed', 'audio', 'strict', 'extra_content'];
    const { complete, bodies } = provider(...fields.map((field) => refusal(`unknown: ${field}`)));
    await assert.rejects(complete(), /unknown: strict/);
    assert.equal(bodies.length, 4);
  });
});
