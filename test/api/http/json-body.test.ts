import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  checkFreeText,
  decodeJson,
  decodeText,
  parseExactJsonBody,
  parseJsonBody,
} from '../../../api/http/json-body.js';
import { writeJson } from '../../../graph/json-text.js';

const REFUSED = { status: 400, code: 'parse_error' };

describe('JSON bodies', () => {
  describe('numbers', () => {
    const changed = [
      '1e400',
      '-1e400',
      '1'.repeat(400),
      '1e-400',
      '-0.0001e-330',
      '9007199254740993',
      '-9007199254740993',
      '12345678901234567890',
      '18446744073709551615',
    ];
    for (const number of changed) {
      it(`${number.slice(0, 30)} is not exact as a double: refused except where numbers are kept as text`, () => {
        for (const text of [number, `[${number}]`, `{"a":"\\"","b":[0,{"c":${number}}]}`, `[1,${number},2]`]) {
          assert.throws(() => parseJsonBody(text), REFUSED, text);
          assert.doesNotThrow(() => checkFreeText(text), 'the text of a run`s input');
          assert.equal(writeJson(parseExactJsonBody(text)), text);
        }
        assert.doesNotThrow(() => parseJsonBody(JSON.stringify({ [number]: `text ${number}` })));
        assert.doesNotThrow(() => checkFreeText(`{not json: ${number}}`));
      });
    }

    const kept = [
      '0',
      '-0',
      '0e999',
      '0.0',
      '1e308',
      '5e-324',
      '9007199254740992',
      '1e22',
      '100000000000000000000',
      '0.1',
    ];
    for (const number of kept) {
      it(`${number} is kept unchanged`, () => {
        assert.equal(JSON.stringify(parseJsonBody(`[${number}]`)), JSON.stringify([Number(number)]));
      });
    }

    it('JSON that JavaScript writes is accepted and unchanged', () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          const text = JSON.stringify(value);
          assert.equal(JSON.stringify(parseJsonBody(text)), text);
        }),
        { seed: 1, numRuns: 500 },
      );
    });

    it('every integer is kept or refused', () => {
      fc.assert(
        fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
          let value: unknown;
          try {
            value = parseJsonBody(`{"a":${integer}}`);
          } catch {
            return;
          }
          const { a } = value as { a: number };
          assert.ok(BigInt(a) === integer || String(a) === String(integer));
        }),
        { seed: 1, numRuns: 500 },
      );
    });
  });

  it('names such as __proto__ are kept like all others', () => {
    const text = '{"__proto__":{"a":1},"constructor":2,"toString":3,"":4}';
    assert.equal(JSON.stringify(parseJsonBody(text)), text);
  });

  it('of a duplicate name the last value counts', () => {
    assert.deepEqual(parseJsonBody('{"a":1,"a":2}'), { a: 2 });
  });

  it('null characters and lone surrogates are refused in values and names, pairs are not', () => {
    for (const text of ['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '{"\\udfff":1}', '[{"a":["x\\uD83D"]}]']) {
      assert.throws(() => parseJsonBody(text), REFUSED, text);
    }
    assert.deepEqual(parseJsonBody('"\\ud83d\\ude00 \\\\u0000"'), '\u{1f600} \\u0000');
  });

  it('say that they are no JSON, which text need not be', () => {
    const [deep, latin1] = ['['.repeat(201), Buffer.from('\u00e9', 'latin1')];
    for (const [refuse, message] of [
      [() => parseJsonBody('{'), /^JSON parse error - the body is not valid JSON/],
      [() => parseJsonBody(deep), /^JSON parse error - nested deeper than 200 levels\.$/],
      [() => decodeJson(latin1), /^JSON parse error - the body is not valid UTF-8\.$/],
      [() => checkFreeText(deep), /^Nested deeper than 200 levels\.$/],
      [() => checkFreeText('\0'), /^Null characters and lone surrogates are not allowed\.$/],
      [() => checkFreeText(String.raw`"\ud800"`), /^Null characters and lone surrogates are not allowed\.$/],
      [() => decodeText(latin1), /^The body is not valid UTF-8\.$/],
    ] as const) {
      assert.throws(refuse, { ...REFUSED, message });
    }
  });

  it('200 levels are taken, 201 are not; brackets in strings are none', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    assert.doesNotThrow(() => parseJsonBody(nested(200)));
    assert.throws(() => parseJsonBody(nested(201)), REFUSED);
    assert.doesNotThrow(() => parseJsonBody(JSON.stringify([nested(300)])));
  });
});
