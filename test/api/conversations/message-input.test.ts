import assert from 'node:assert/strict';
import type { FileValue } from '../../../files/file-value.js';
import { MAX_MESSAGES_BYTES, toMessages, toRunInput } from '../../../api/conversations/message-input.js';

const exchange = (id: number, answer: string | null = `answer ${id}`, content = `message ${id}`) => ({
  id: String(id),
  content,
  answer,
});
/** Exchanges with the newest first, as they are read from the database. */
const exchanges = (count: number) => Array.from({ length: count }, (_, index) => exchange(count - index));

describe('the messages of an input', () => {
  it('are in the order of the branch, and the message itself is the last', () => {
    assert.deepEqual(toMessages('now', exchanges(2)), [
      { role: 'user', content: 'message 1' },
      { role: 'assistant', content: 'answer 1' },
      { role: 'user', content: 'message 2' },
      { role: 'assistant', content: 'answer 2' },
      { role: 'user', content: 'now' },
    ]);
  });

  it('leave out a missing answer, but contain an empty one', () => {
    assert.deepEqual(
      toMessages('now', [exchange(2, ''), exchange(1, null)]).map(({ content }) => content),
      ['message 1', 'message 2', '', 'now'],
    );
  });

  it('are the newest 100', () => {
    const messages = toMessages('now', exchanges(100));
    assert.equal(messages.length, 100);
    assert.deepEqual(messages[0], { role: 'assistant', content: 'answer 51' });
    assert.deepEqual(messages.at(-1), { role: 'user', content: 'now' });
  });

  it('have at most 256 KiB: a message that does not fit is left out, with all earlier ones', () => {
    const large = 'ü"\n'.repeat(20_000);
    const messages = toMessages('now', [exchange(3), exchange(2, 'small', large), exchange(1, large, large)]);
    assert.deepEqual(
      messages.map(({ content }) => content.length),
      [large, large, 'small', 'message 3', 'answer 3', 'now'].slice(-messages.length).map(({ length }) => length),
    );
    const fitting = toMessages('x'.repeat(MAX_MESSAGES_BYTES - 30), exchanges(3));
    assert.equal(Buffer.byteLength(JSON.stringify(fitting)), MAX_MESSAGES_BYTES);
  });

  it('are only the message itself if it alone exceeds 256 KiB', () => {
    for (const content of ['x'.repeat(MAX_MESSAGES_BYTES - 29), '漢'.repeat(100_000)]) {
      assert.deepEqual(toMessages(content, exchanges(3)), [{ role: 'user', content }]);
    }
  });

  it('replace inputs of the same name, like the other fields of a conversation', () => {
    const [conversationId, content] = ['c', 'now'];
    const inputs = { tone: 'calm', message: 'other', files: 'other' };
    assert.deepEqual(toRunInput({ conversationId, content, files: [], inputs, before: [], drawing: {} }), {
      tone: 'calm',
      message: 'now',
      messages: [{ role: 'user', content: 'now' }],
      conversation_id: 'c',
      files: [],
    });
  });

  it('have their files in the form that the trigger takes, and leave its default if there are none', () => {
    const [one, other] = ['a', 'b'].map((name) => ({ file_id: name, name, type: 'text/plain', size: 1, sha256: name }));
    const filesFor = (files: FileValue[], type?: string): unknown => {
      const fields = type === undefined ? [] : [{ id: 'files', type }];
      const drawing = { nodes: [{ id: 't', type: 'trigger-node', data: { input_fields: fields } }], start_node: 't' };
      const input = toRunInput({ conversationId: 'c', content: 'x', files, inputs: {}, before: [], drawing });
      return Array.isArray(input) ? undefined : input['files'];
    };
    assert.deepEqual(filesFor([one!], 'file'), one);
    assert.deepEqual(filesFor([one!, other!], 'file'), [one, other]);
    assert.deepEqual([filesFor([], 'file'), filesFor([], 'files'), filesFor([])], [undefined, undefined, []]);
    assert.deepEqual([filesFor([one!], 'files'), filesFor([one!])], [[one], [one]]);
  });
});
