// The result of each operator for two sides: as literals, and as the values of variables.
import assert from 'node:assert/strict';
import type { Condition } from '../../graph/condition-schema.js';
import { NodeError } from '../../graph/node-error.js';
import { OPERATORS, type Operator } from '../../graph/operators.js';
import type { VariableValues } from '../../graph/template.js';
import { judgeHere } from './judge-here.js';

type Side = string | number | boolean;

const nothing: VariableValues = { input: {}, results: new Map() };

function judge(condition: Condition, values: VariableValues): boolean {
  return judgeHere([condition], values, 'all').length > 0;
}

function judged(left: unknown, operator: Operator, right: unknown): boolean {
  const values: VariableValues = { input: { left, right }, results: new Map() };
  return judge({ left: '{{ input.left }}', operator, right: '{{ input.right }}' }, values);
}

const rows: [left: Side, operator: Operator, right: Side, holds: boolean, rule: string][] = [
  ['the answer is yes', 'contains', 'answer', true, 'a part of the text'],
  ['the answer is yes', 'contains', 'Answer', false, 'capital letters count'],
  ['the answer is yes', 'not_contains', 'no', true, 'the opposite'],
  ['the answer is yes', 'not_contains', 'yes', false, 'the opposite of the opposite'],
  ['anything', 'contains', '', true, 'every text contains nothing'],
  ['', 'contains', 'x', false, 'nothing contains only nothing'],
  ['10', 'contains', '1', true, 'numbers are texts here'],
  [10, 'contains', 0, true, 'also where they are written as numbers'],
  ['1.0', 'starts_with', '1', true, 'no number, but a beginning'],
  ['a.c', 'contains', '.', true, 'a dot is a dot'],
  ['abc', 'contains', 'a.c', false, 'and nothing else'],
  ['invoice-7.pdf', 'starts_with', 'invoice', true, 'the beginning'],
  ['invoice-7.pdf', 'starts_with', 'Invoice', false, 'with its capital letters'],
  ['invoice-7.pdf', 'ends_with', '.pdf', true, 'the end'],
  ['invoice-7.pdf', 'ends_with', 'pdf.', false, 'in its order'],
  [' yes\n', 'starts_with', 'y', true, 'space around the left side does not count'],
  [' yes\n', 'ends_with', ' s ', true, 'nor around the right side'],
  ['grüße 漢字 🙂', 'ends_with', '🙂', true, 'characters of all scripts'],
  ['order 4711 is late', 'matches', String.raw`\d{4}`, true, 'a pattern matches anywhere'],
  ['order 4711 is late', 'matches', String.raw`^\d{4}`, false, 'unless it says where'],
  ['order 4711 is late', 'matches', 'Order', false, 'capital letters count'],
  ['order 4711 is late', 'matches', '(?i)ORDER', true, 'unless it says otherwise'],
  ['a\nb', 'matches', '(?m)^b$', true, 'lines, if it says so'],
  ['aab', 'matches', '^(a|ab)+$', true, 'alternatives'],
  ['漢字', 'matches', String.raw`^\p{Han}{2}$`, true, 'scripts'],
  ['🙂', 'matches', '^.$', true, 'one character beyond the BMP is one character'],
  ['', 'matches', '^$', true, 'nothing'],
  ['a b', 'matches', 'a ', true, 'a space at the end of a pattern belongs to it'],
  ['b', 'in', '["a", "b"]', true, 'an item of a JSON array'],
  ['c', 'in', '["a", "b"]', false, 'no item of it'],
  ['a,b', 'in', '["a,b"]', true, 'a comma within an item'],
  ['b', 'in', 'a, b, c', true, 'an item between commas'],
  ['B', 'in', 'a, b, c', false, 'capital letters count'],
  ['5', 'in', '[1, 5]', true, 'a number of a JSON array'],
  ['5.0', 'in', '1, 5', true, 'numbers are equal as they are to =='],
  ['9007199254740993', 'in', '[9007199254740992]', false, 'numbers that a float cannot tell apart'],
  ['true', 'in', '[true, null]', true, 'a boolean of a JSON array'],
  ['{"a":1}', 'in', '[{"a": 1}]', true, 'an object as its JSON text'],
  ['', 'in', 'a,,b', false, 'nothing between two commas is no item'],
  ['', 'in', '["", "b"]', true, 'nothing as an item of a JSON array is one'],
  ['a', 'in', '', false, 'no items'],
  ['[a', 'in', '[a, b]', true, 'what is no JSON array is words between commas'],
  ['', 'is_empty', '', true, 'nothing'],
  [' \n', 'is_empty', '', true, 'space, as for =='],
  ['[]', 'is_empty', '', true, 'a list without items'],
  ['{ }', 'is_empty', '', true, 'an object without keys, however it is written'],
  ['[ ]', 'is_not_empty', '', false, 'the opposite'],
  ['[0]', 'is_empty', '', false, 'a list with an item'],
  ['0', 'is_empty', '', false, 'a zero is something'],
  ['false', 'is_empty', '', false, 'and so is false'],
  ['null', 'is_empty', '', false, 'the text null is a text'],
  ['[', 'is_empty', '', false, 'half a list is a text'],
  ['[}', 'is_empty', '', false, 'and so are two halves'],
];

describe('operators', () => {
  for (const [left, operator, right, expected, rule] of rows) {
    it(`${rule}: ${JSON.stringify(left)} ${operator} ${JSON.stringify(right)} is ${expected}`, () => {
      assert.equal(judge({ left, operator, right }, nothing), expected, 'written out');
      assert.equal(judged(left, operator, right), expected, 'as variables');
    });
  }

  it('are all in the table, except the comparisons', () => {
    const shown = new Set(rows.map(([, operator]) => operator));
    assert.deepEqual(
      OPERATORS.filter((operator) => !shown.has(operator)),
      ['==', '!=', '>', '<', '>=', '<='],
    );
  });

  it('a variable that is missing, null, an empty list or an empty object is empty', () => {
    for (const value of [undefined, null, '', [], {}]) {
      assert.equal(judged(value, 'is_empty', 'whatever'), true, JSON.stringify(value));
      assert.equal(judged(value, 'is_not_empty', undefined), false, JSON.stringify(value));
    }
    for (const value of [0, false, [null], { a: undefined, b: 1 }, 'x'])
      assert.equal(judged(value, 'is_not_empty', undefined), true, JSON.stringify(value));
  });

  it('a variable that is a list serves as the right side of in', () => {
    assert.equal(judged('b', 'in', ['a', 'b']), true);
    assert.equal(judged(7, 'in', [6, 7]), true);
    assert.equal(judged('7', 'in', [6, 7.5]), false);
  });

  it('is_empty and is_not_empty need no right side, and do not look at one', () => {
    assert.equal(judge({ left: '', operator: 'is_empty' }, nothing), true);
    assert.equal(judge({ left: 'x', operator: 'is_not_empty', right: '(' }, nothing), true);
  });

  it('a pattern with a mistake that comes out of a variable fails with invalid_pattern', () => {
    for (const pattern of ['(', '[a', 'a**', String.raw`\1`, '(?=a)', '(?<=a)b', 'a{1001}', '(a{1000}){1000}']) {
      assert.throws(
        () => judged('a', 'matches', pattern),
        (error) => error instanceof NodeError && error.code === 'invalid_pattern' && error.message.endsWith('.'),
        pattern,
      );
    }
  });
});
