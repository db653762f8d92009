import assert from 'node:assert/strict';
import { reuseInput } from '../../graph/input.js';

const MASK = '********';
const secret = { id: 'token', is_secret: true };
const open = { id: 'token' };
const none = { fields: [], secrets: {} };

describe('reused input', () => {
  it('is the input itself while the same fields are secret', () => {
    const input = { token: 'abcdef-1', note: 'see abcdef-1' };
    const drawn = { fields: [secret], secrets: { 'header:n:authorization': 'Bearer 123456' } };
    assert.deepEqual(reuseInput(input, drawn, drawn), input);
    assert.deepEqual(reuseInput(input, { fields: [open], secrets: {} }, drawn), input);
  });

  it('a value whose field is secret no longer, or is gone, stands as ********, wherever its text stands', () => {
    const input = { token: 'abcdef-1', note: 'see abcdef-1', list: [{ deep: 'abcdef-1' }] };
    const hidden = { token: MASK, note: `see ${MASK}`, list: [{ deep: MASK }] };
    assert.deepEqual(reuseInput(input, { fields: [secret], secrets: {} }, { fields: [open], secrets: {} }), hidden);
    assert.deepEqual(reuseInput(input, { fields: [secret], secrets: {} }, none), hidden);
  });

  it('a short value is hidden in its own field', () => {
    const input = { token: 'abc', note: 'abc' };
    assert.deepEqual(reuseInput(input, { fields: [secret], secrets: {} }, none), { token: MASK, note: 'abc' });
  });

  it('a text that was a secret of the drawing then and is none now is hidden', () => {
    const then = { fields: [], secrets: { 'field:n:token': 'default-1' } };
    assert.deepEqual(reuseInput({ note: 'not default-1' }, then, none), { note: `not ${MASK}` });
    assert.deepEqual(reuseInput({ note: 'not default-1' }, then, then), { note: 'not default-1' });
  });

  it('takes an array', () => {
    const field = { id: '0', is_secret: true };
    assert.deepEqual(reuseInput(['abcdef-1', 2], { fields: [field], secrets: {} }, none), [MASK, 2]);
  });
});
