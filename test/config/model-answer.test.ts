import assert from 'node:assert/strict';
import { sentenceIn } from '../../config/model-answer.js';

/** Returns the text inside of `depth` nested objects. */
function nested(depth: number, said: unknown = 'wrong'): unknown {
  return Array.from({ length: depth }).reduce<unknown>((inside) => ({ error: inside }), said);
}

describe('the sentence of an error of a model', () => {
  it('is found inside nine objects or lists, and not inside ten', () => {
    assert.equal(sentenceIn(nested(9)), 'wrong');
    assert.equal(sentenceIn(nested(10)), undefined);
    assert.equal(sentenceIn(nested(7, [['wrong']])), 'wrong');
    assert.equal(sentenceIn(nested(8, [['wrong']])), undefined);
    // A message that is nested less deeply is used instead.
    assert.equal(sentenceIn({ error: nested(9), message: 'beside' }), 'beside');
  });

  it('has the first ten of a list, joined', () => {
    const said = (count: number) => Array.from({ length: count }, (_, at) => ({ msg: `m${at}` }));
    const ten = 'm0; m1; m2; m3; m4; m5; m6; m7; m8; m9';
    assert.equal(sentenceIn({ detail: said(9) }), ten.slice(0, -4));
    assert.equal(sentenceIn({ detail: said(10) }), ten);
    assert.equal(sentenceIn({ detail: said(11) }), ten);
    assert.equal(sentenceIn([...Array.from({ length: 10 }, () => ({})), 'eleventh']), undefined);
  });

  it('names the place of a validation, of which only texts and numbers count', () => {
    assert.equal(
      sentenceIn({ loc: ['body', 'messages', 0], msg: 'Field required' }),
      'body.messages.0: Field required',
    );
    const odd = { toString: 1, valueOf: 1 };
    assert.equal(sentenceIn({ loc: ['body', odd, [odd]], msg: 'Field required' }), 'body: Field required');
    assert.equal(sentenceIn({ loc: [odd], msg: 'Field required' }), 'Field required');
  });
});
