// An approver reads these texts. They must hide nothing, and state clearly what has happened.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { outcomeSentence, remainingText, tooLateSentence } from '../../../console/parts/requests/approvals.js';
import { beginningOf } from '../../../console/ui/part-of.js';
import { toVisibleJson, toVisibleText } from '../../../console/ui/visible-json.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';

describe('the arguments of a tool call, as an approver reads them', () => {
  it('are the same JSON, whatever they hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), (value) => {
        assert.equal(writeJson(parseJson(toVisibleJson(value))), writeJson(JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  it('keep every digit of a number', () => {
    const text = '{"account":12345678901234567890,"amount":0.1000000000000000055511}';
    assert.equal(
      toVisibleJson(parseJson(text)),
      '{\n  "account": 12345678901234567890,\n  "amount": 0.1000000000000000055511\n}',
    );
  });

  it('show characters that are drawn as nothing, as a space, or that turn text around, in keys too', () => {
    const hidden = ['\u202e', '\u200b', '\u00a0', '\u2066', '\ufeff', '\u3164', '\u2028', '\u007f', '\u2800', '\ufe0f'];
    for (const character of hidden) {
      const code = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
      assert.equal(toVisibleJson({ [`a${character}`]: `b${character}c` }), `{\n  "a${code}": "b${code}c"\n}`);
    }
    assert.equal(toVisibleJson('\u{e0041}'), '"\\udb40\\udc41"', 'a tag character, which is two units');
    assert.equal(toVisibleJson('\n\t'), '"\\n\\t"');
    assert.equal(toVisibleText('pay\u202eknab'), 'pay\\u202eknab', 'the name of a tool');
  });

  it('leave what can be seen as it is', () => {
    const text = 'Zürich, 東京, שלום, <b>&amp;</b>, a b';
    assert.equal(toVisibleJson(text), `"${text}"`);
    assert.deepEqual([toVisibleJson({}), toVisibleJson([]), toVisibleJson(null)], ['{}', '[]', 'null']);
  });
});

describe('the beginning of a long text', () => {
  it('is the whole text where that is short', () => {
    assert.deepEqual(beginningOf('a\nb', 2, 10), { text: 'a\nb', isWhole: true });
    assert.deepEqual(beginningOf('', 2, 10), { text: '', isWhole: true });
  });

  it('ends after so many lines or characters, and splits no character', () => {
    assert.deepEqual(beginningOf('a\nb\nc', 2, 10), { text: 'a\nb', isWhole: false });
    assert.deepEqual(beginningOf('abcdef', 2, 4), { text: 'abcd', isWhole: false });
    assert.deepEqual(beginningOf('abc😀', 2, 4), { text: 'abc', isWhole: false });
  });
});

describe('how long there still is', () => {
  it('is told in the two largest units', () => {
    const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
    const cases = new Map([
      [3 * day, '3 days left'],
      [day + hour + minute, '1 day 1 hour left'],
      [2 * hour + 5 * minute + 1, '2 hours 5 minutes left'],
      [minute, '1 minute left'],
      [59_999, 'less than a minute left'],
      [0, 'expired'],
      [-day, 'expired'],
    ]);
    for (const [ms, text] of cases) assert.equal(remainingText(1_000 + ms, 1_000), text);
  });
});

describe('what has become of a request', () => {
  const [ada, bob] = [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Bob' },
  ];

  it('names who has decided, and says you to the person who has', () => {
    assert.equal(outcomeSentence({ status: 'approved', decided_by: ada }, 1), 'You approved this.');
    assert.equal(outcomeSentence({ status: 'rejected', decided_by: bob }, 1), 'Bob rejected this.');
    assert.equal(outcomeSentence({ status: 'approved', decided_by: null }, 1), 'This was approved.');
    assert.match(outcomeSentence({ status: 'expired', decided_by: null }, 1), /^Nobody decided/);
    assert.equal(outcomeSentence({ status: 'pending', decided_by: null }, 1), '');
  });

  it('says why a decision did not count', () => {
    const late = (status: 'approved' | 'rejected' | 'expired' | 'pending', by: typeof bob | null): string | undefined =>
      tooLateSentence({ status, decided_by: by }, 'reject', 1, 'The run has ended.');
    assert.equal(late('approved', bob), 'Your rejection does not count: Bob approved this before.');
    assert.equal(late('approved', ada), 'Your rejection does not count: you approved this before.');
    assert.equal(late('rejected', ada), undefined, 'the same, asked for again because the answer got lost');
    assert.equal(late('rejected', bob), 'Your rejection does not count: Bob rejected this before.');
    assert.match(late('expired', null) ?? '', /too late/);
    assert.equal(late('pending', null), 'Your rejection does not count. The run has ended.');
  });
});
