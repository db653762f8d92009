import assert from 'node:assert/strict';
import { readMessage } from '../../../../activities/kinds/agent/assistant-message.js';
import { MAX_TOOL_CALLS } from '../../../../db/agents/tool-call-number.js';

const read = (message: unknown) => readMessage({ choices: [{ index: 0, message }] });
const callOf = (written: unknown) => ({ id: 'a', type: 'function', function: { name: 'add', arguments: written } });

describe('the message of the model of an agent', () => {
  it('goes back as it came, fields that only its provider knows included', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }],
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'eA', index: 0 }],
      refusal: null,
      tool_calls: [
        {
          ...callOf('{ "n" : 1.0 }'),
          index: 0,
          extra_content: { google: { thought_signature: 'c2ln' } },
          function: { name: 'add', arguments: '{ "n" : 1.0 }', strict: true },
        },
      ],
    };
    assert.deepEqual(read(message)?.message, message);
    const { content: _content, tool_calls: _calls, ...silent } = message;
    assert.deepEqual(read(silent)?.message, silent);
  });

  it('has a role, calls with a type, and no empty list of calls', () => {
    assert.deepEqual(read({ content: 'x', tool_calls: [] })?.message, { role: 'assistant', content: 'x' });
    assert.deepEqual(read({ content: 'x', tool_calls: null })?.message, { role: 'assistant', content: 'x' });
    for (const type of [undefined, null, '', 'function']) {
      const { tool_calls: calls } = read({ content: null, tool_calls: [{ ...callOf('{}'), type }] })!.message;
      assert.deepEqual(calls, [callOf('{}')], String(type));
    }
    const custom = { id: 'b', type: 'custom', custom: { name: 'x', input: 'y' } };
    assert.deepEqual(read({ content: null, tool_calls: [custom, callOf('{}')] })?.message, {
      role: 'assistant',
      content: null,
      tool_calls: [callOf('{}')],
    });
  });

  const whole: [title: string, written: unknown, parsed: object, goesBack: string][] = [
    ['a text that is an object', '{"n":1}', { n: 1 }, '{"n":1}'],
    ['an object', { n: 1 }, { n: 1 }, '{"n":1}'],
    ['an empty text', '', {}, '{}'],
    ['blanks', ' \n\t', {}, '{}'],
    ['null', null, {}, '{}'],
    ['nothing', undefined, {}, '{}'],
  ];
  for (const [title, written, parsed, goesBack] of whole) {
    it(`has arguments for ${title}`, () => {
      const { message, calls } = read({ content: null, tool_calls: [callOf(written)] })!;
      assert.deepEqual(calls, [{ id: 'a', name: 'add', text: goesBack, parsed }]);
      assert.deepEqual(message['tool_calls'], [callOf(goesBack)]);
    });
  }

  const broken = ["{'city': 'Paris'}", '{"city": "Par', '[]', 'null', '"{}"', '7', [], 7, true];
  for (const written of broken) {
    it(`has no arguments for ${JSON.stringify(written)}, and sends an empty object back`, () => {
      const { message, calls } = read({ content: null, tool_calls: [callOf(written)] })!;
      const text = typeof written === 'string' ? written : JSON.stringify(written);
      assert.deepEqual(calls, [{ id: 'a', name: 'add', text, parsed: undefined }]);
      assert.deepEqual(message['tool_calls'], [callOf('{}')]);
    });
  }

  it('cannot be used with a content that is neither text nor list, a call without a name, and too many calls', () => {
    const unusable = [
      'x',
      null,
      { content: {} },
      { content: 7 },
      { content: true },
      { content: null, tool_calls: [{ id: 'a', type: 'function' }] },
      { content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 7 } }] },
      { content: null, tool_calls: Array.from({ length: MAX_TOOL_CALLS + 1 }, () => callOf('{}')) },
    ];
    for (const message of unusable) assert.equal(read(message), undefined, JSON.stringify(message)?.slice(0, 80));
    for (const answer of [undefined, null, 'x', {}, { choices: [] }]) assert.equal(readMessage(answer), undefined);
  });
});
