import assert from 'node:assert/strict';
import { sentenceIn, sentenceInMessage, sentenceOfAnswer } from '../../../console/parts/node-result/result-parts.js';

describe('the sentence of an error', () => {
  it('is found in the shapes in which servers say what is wrong', () => {
    assert.equal(sentenceIn({ error: { type: 'a', message: 'Too small.' } }), 'Too small.');
    assert.equal(sentenceIn({ errors: [{ detail: 'No such page.' }] }), 'No such page.');
    assert.equal(sentenceIn({ error: 'invalid_grant', error_description: 'Expired.' }), 'Expired.');
    assert.equal(sentenceIn({ error: 'forbidden' }), 'forbidden');
    assert.equal(sentenceIn([{ message: 'First.' }]), 'First.');
    assert.equal(sentenceIn({ message: 3, data: {} }), undefined);
    assert.equal(sentenceIn('text'), undefined);
  });

  it('is found in a message that quotes an answer, also where its end is cut off', () => {
    const before = 'The server answered with status 422: ';
    assert.equal(sentenceInMessage(`${before}{"error": {"message": "Not \\"a\\" number."}}`), 'Not "a" number.');
    assert.equal(sentenceInMessage(`${before}{"error": {"message": "Too long.", "trace": "abc`), 'Too long.');
    assert.equal(sentenceInMessage(`${before}<html>`), undefined);
    assert.equal(sentenceInMessage(`${before}{"a": 1}`), undefined);
    assert.equal(sentenceInMessage(`${before}{"message": "cut off in the te`), undefined);
  });

  it('is shown of an answer that has failed and was taken all the same', () => {
    const content = '{"message": "Gone."}';
    assert.equal(sentenceOfAnswer({ status_code: 410, content }), 'Gone.');
    assert.equal(sentenceOfAnswer({ status_code: 200, content }), undefined);
    assert.equal(sentenceOfAnswer({ content }), undefined);
  });
});
