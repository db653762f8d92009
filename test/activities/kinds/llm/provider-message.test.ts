import assert from 'node:assert/strict';
import { giveCallIds, isSilent, reportedCallsOf } from '../../../../activities/kinds/llm/provider-message.js';

const answerWith = (...ids: unknown[]) => ({
  choices: [
    { message: { tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'add', arguments: {} } })) } },
  ],
});

describe('the tool calls of an answer', () => {
  it('keep ids that are texts, and get ids of their own for missing, unusable and doubled ones', () => {
    const given = ['a', '', null, undefined, 7, ' ', 'a\0b', '\ud83d', 'a', {}, 'chatcmpl-tool-12', ''];
    const answer = giveCallIds(answerWith(...given));
    const ids = answer.choices[0]!.message.tool_calls.map(({ id }) => id);
    assert.deepEqual([ids[0], ids[10]], ['a', 'chatcmpl-tool-12']);
    assert.equal(new Set(ids).size, ids.length);
    for (const [at, id] of ids.entries()) if (at !== 0 && at !== 10) assert.match(String(id), /^[A-Za-z0-9]{9}$/);
  });

  it('are told with the ids and arguments that they have, and nothing is told of an answer that is none', () => {
    const answer = giveCallIds(answerWith(undefined));
    assert.deepEqual(reportedCallsOf(answer), [
      { id: answer.choices[0]!.message.tool_calls[0]!.id, name: 'add', arguments: '{}' },
    ]);
    const strange = [null, 'x', 7, {}, { choices: {} }, { choices: ['x'] }, { choices: [{ message: 'x' }] }];
    for (const value of [...strange, { choices: [{ message: { tool_calls: ['x', {}, { function: 'x' }] } }] }]) {
      assert.deepEqual(reportedCallsOf(giveCallIds(value)), []);
    }
  });
});

describe('a message of the model', () => {
  it('says nothing without a content and calls, but a list of thoughts is a content', () => {
    const silent = [{}, { content: null }, { content: '' }, { content: [] }, { content: '', reasoning_content: 'hm' }];
    for (const message of silent) assert.ok(isSilent(message), JSON.stringify(message));
    const telling = [{ content: 'x' }, { content: [{ type: 'thinking', thinking: [] }] }, { tool_calls: [{}] }];
    for (const message of telling) assert.ok(!isSilent(message), JSON.stringify(message));
  });
});
