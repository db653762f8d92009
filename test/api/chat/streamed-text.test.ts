import assert from 'node:assert/strict';
import { createStreamedText, type AnswerDelta } from '../../../api/chat/streamed-text.js';
import type { ApiError } from '../../../api/http/errors.js';

const FIRST = { id: 'a', path: '', attempt: 1, step: 0 };

describe('the text of the answering node that is streamed to a client', () => {
  const tell = (...deltas: Partial<AnswerDelta>[]): string => {
    const words = createStreamedText(new Set(['a', 'b']));
    return deltas.map((delta) => words.add({ ...FIRST, ...delta })).join('');
  };
  const fails = (...deltas: Partial<AnswerDelta>[]): void =>
    assert.throws(
      () => tell(...deltas),
      (error: ApiError) => error.code === 'attempt_failed',
    );

  it('consists of the deltas of one node outside loop bodies, without repetition after a reset', () => {
    assert.equal(tell({ text: 'He' }, { text: 'llo' }), 'Hello');
    assert.equal(
      tell({ id: 'x', text: 'no' }, { path: '/l[0]', text: 'no' }, { text: 'a' }, { id: 'b', text: 'no' }),
      'a',
    );
    assert.equal(tell({ text: 'He' }, { text: 'Hello', reset: true }, { text: '!' }), 'Hello!');
    assert.equal(tell({ text: 'Hello', reset: true }, { text: 'Hello', reset: true }), 'Hello');
  });

  it('starts again with another attempt if nothing was streamed yet, and fails otherwise', () => {
    assert.equal(tell({ text: '' }, { attempt: 2, reset: true, text: 'Yes' }, { attempt: 1, text: 'old' }), 'Yes');
    fails({ text: 'He' }, { attempt: 2, reset: true, text: 'Hello' });
    fails({ text: 'He' }, { reset: true, text: 'She' });
  });

  it('continues with the step after a tool call, and fails if the model repairs its answer', () => {
    const call = { tool_call: { id: '1', name: 't', arguments: '{}' } };
    assert.equal(
      tell({ text: 'I look.' }, call, { step: 1, text: 'Found ' }, { step: 1, text: 'it.' }),
      'I look.\n\nFound it.',
    );
    assert.equal(tell(call, { step: 1, text: 'Found it.' }), 'Found it.');
    assert.equal(tell({ text: 'I look.' }, call, { step: 1, attempt: 2, reset: true, text: 'It.' }), 'I look.\n\nIt.');
    fails({ text: '{"wrong"' }, { step: 1, text: '{"right"' });
    fails({ text: 'I look.' }, call, { step: 1, text: 'Fo' }, { step: 1, attempt: 2, reset: true, text: 'Found' });
  });
});
