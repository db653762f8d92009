import assert from 'node:assert/strict';
import { compare, COMPARISONS, type Comparison } from '../../graph/condition.js';

const HOLDING: Record<'<' | '=' | '>', Comparison[]> = {
  '<': ['!=', '<', '<='],
  '=': ['==', '>=', '<='],
  '>': ['!=', '>', '>='],
};

function holds(left: string, right: string): Comparison[] {
  return COMPARISONS.filter((operator) => compare(left, operator, right));
}

describe('conditions', () => {
  const rows: [left: string, order: '<' | '=' | '>', right: string, rule: string][] = [
    ['1', '=', '1', 'the same number'],
    ['2', '<', '10', 'numbers, not texts'],
    ['1.0', '=', '1', 'trailing zeros'],
    ['007', '=', '7', 'leading zeros'],
    ['.5', '=', '0.50', 'no digit before the point'],
    ['5.', '=', '5', 'no digit after the point'],
    ['+5', '=', '5', 'a plus sign'],
    ['-5', '<', '5', 'a minus sign'],
    ['-10', '<', '-9', 'negative numbers'],
    ['-0', '=', '0.000', 'the zeros'],
    ['0', '=', '0e99', 'zero with an exponent'],
    ['-1', '<', '0', 'below zero'],
    ['0.1', '>', '0', 'above zero'],
    ['0.1', '<', '0.11', 'a longer fraction'],
    ['0.09', '<', '0.1', 'zeros after the point'],
    ['-0.11', '<', '-0.1', 'a longer negative fraction'],
    ['1e3', '=', '1000', 'an exponent'],
    ['1E+3', '=', '1000', 'a capital exponent with a sign'],
    ['12.5e-1', '=', '1.25', 'a negative exponent'],
    ['1e-7', '=', '0.0000001', 'the way JSON writes small numbers'],
    ['1e+21', '=', '1000000000000000000000', 'the way JSON writes large numbers'],
    ['1e999999999', '>', '9e999999998', 'exponents beyond all floats'],
    ['1e-999999999', '>', '0', 'a number that a float would round to zero'],
    ['-1e999999999', '<', '1e-999999999', 'both ends'],
    ['1e99999999999999999999', '<', '1e100000000000000000000', 'exponents beyond all integers of a float'],
    ['9007199254740993', '>', '9007199254740992', 'integers that a float cannot tell apart'],
    ['0.1000000000000000000001', '>', '0.1', 'fractions that a float cannot tell apart'],
    ['123456789012345678901234567890.5', '<', '123456789012345678901234567890.6', 'many digits on both sides'],
    [' 5\n', '=', '\t5.0 ', 'space around numbers'],
    ['\u00a05\ufeff', '=', '5', 'any white space around numbers'],
    [' yes ', '=', 'yes', 'space around texts'],
    ['', '=', '   ', 'blank and empty'],
    ['', '<', '0', 'blank is no number'],
    ['a', '<', 'b', 'texts'],
    ['B', '<', 'a', 'case by code point'],
    ['a', '<', 'aa', 'a prefix'],
    ['10', '<', '9a', 'one side that is no number makes both texts'],
    ['1 0', '>', '1', 'space inside is no number'],
    ['1,000', '<', '2', 'a comma is no number'],
    ['1_000', '>', '1', 'an underscore is no number'],
    ['0x10', '<', '9', 'a hexadecimal number is none'],
    ['0x0', '>', '0', 'not even zero'],
    ['Infinity', '>', '1', 'Infinity is a text'],
    ['NaN', '=', 'NaN', 'NaN equals itself as a text'],
    ['1e', '>', '1', 'an exponent without digits is no number'],
    ['1e1.5', '<', '9', 'an exponent with a fraction is no number'],
    ['.', '<', '0', 'a point alone is no number'],
    ['-', '<', '0', 'a sign alone is no number'],
    ['--1', '<', '1', 'two signs are no number'],
    ['1.2.3', '<', '1.3', 'two points are no number'],
    ['١', '>', '1', 'digits of other scripts are no numbers'],
    ['true', '=', 'true', 'booleans are texts'],
    ['null', '>', 'NULL', 'case matters'],
    ['é', '>', 'e\u0301', 'no normalisation'],
    ['😀', '>', '\uffff', 'a character beyond the BMP is above all within it'],
    ['x😀', '>', 'x\ue000', 'also behind a common prefix'],
    ['😀', '<', '😁', 'two characters that share their first half'],
    ['\ud83d', '<', '\ud83d\ude00', 'half a pair is a prefix'],
    ['\ud83d\uffff', '<', '\ud83d\ude00', 'half a pair is below a whole one'],
    ['ü', '>', 'z', 'no alphabet of any language'],
  ];
  for (const [left, order, right, rule] of rows) {
    it(`${rule}: ${JSON.stringify(left)} ${order} ${JSON.stringify(right)}`, () => {
      assert.deepEqual(
        holds(left, right),
        COMPARISONS.filter((operator) => HOLDING[order].includes(operator)),
      );
      const mirrored = order === '=' ? '=' : order === '<' ? '>' : '<';
      assert.deepEqual(
        holds(right, left),
        COMPARISONS.filter((operator) => HOLDING[mirrored].includes(operator)),
      );
    });
  }
});
