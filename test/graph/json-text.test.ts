import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ExactNumber } from '../../graph/exact-number.js';
import { inKeyOrder, isObject, leavesOf, mapLeaves, ownValue } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { createMasker } from '../../graph/mask.js';
import { renderJson, renderText } from '../../graph/template.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

const BIG = '12345678901234567890';

const digits = (maxLength: number) => fc.stringMatching(/^[0-9]+$/, { maxLength }).filter((text) => text !== '');
/** Numbers as JSON may write them, including some that a double would change. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(30).map((text) => text.replace(/^0+(?=\d)/, '')),
    fc.option(digits(30), { nil: '' }).map((text) => (text === '' ? '' : `.${text}`)),
    fc.constantFrom('', 'e5', 'E-7', 'e+400', 'e-400', 'e22'),
  )
  .map((parts) => parts.join(''));

/** JSON text with long numbers, texts that look like numbers, and unusual keys. */
const jsonText = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    fc.constantFrom('true', 'false', 'null'),
    fc.oneof(fc.string({ unit: 'binary' }), fc.constant(`"${BIG}\\`), numberText).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[ ${items.join(' ,')}]`),
    fc
      .array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', '1', BIG)), tie('value')), {
        maxLength: 4,
      })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${String(value)}`).join(',\n')}}`),
  ),
})).value;

/** Compares two numbers independently of the tested parser: by sign, digits and power of ten. */
function sameNumber(left: string, right: string): boolean {
  const parts = (text: string): [string, bigint] => {
    const [, sign = '', whole = '', fraction = '', power = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? assert.fail(text);
    const all = `${whole}${fraction}`.replace(/^0+/, '');
    const significant = all.replace(/0+$/, '');
    if (significant === '') return ['0', 0n];
    return [sign + significant, BigInt(power) - BigInt(fraction.length) + BigInt(all.length - significant.length)];
  };
  const [a, b] = [parts(left), parts(right)];
  return a[0] === b[0] && a[1] === b[1];
}

describe('JSON with exact numbers', () => {
  it('a number comes out as the one that went in, whatever its size and wherever it stands', () => {
    const places = ['?', '[?]', ' {"a" : ?}', '[1,?,"?"]', '{"a":[{"b":?}]}', `[${BIG},?]`];
    fc.assert(
      fc.property(numberText, fc.constantFrom(...places), (number, place) => {
        const written = writeJson(parseJson(place.replaceAll('?', number)));
        const [before, after = ''] = place.replaceAll(' ', '').split('?');
        const found = written.slice(before!.length, written.length - (after === '' ? 0 : after.length));
        if (place.includes('"?"')) return sameNumber(/^\[1,([^,]+),/.exec(written)![1]!, number);
        return sameNumber(found, number);
      }),
      { numRuns: 2_000 },
    );
  });

  it('everything but such numbers is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const asDoubles = mapLeaves(parseJson(text), (leaf) =>
          leaf instanceof ExactNumber ? Number(leaf.toString()) : leaf,
        );
        assert.deepEqual(asDoubles, JSON.parse(text));
        assert.equal(JSON.stringify(asDoubles), JSON.stringify(JSON.parse(text)), 'the order of keys, too');
      }),
      { numRuns: 2_000 },
    );
  });

  it('what was written is read as the same again, and any value is written as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const written = writeJson(parseJson(text));
        assert.equal(writeJson(parseJson(written)), written);
      }),
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(writeJson(value), JSON.stringify(value))));
    const odd = { a: undefined, b: [undefined, new Date(0)], c: new ExactNumber(BIG), toJSON: 'a key' };
    assert.equal(writeJson(odd), `{"b":[null,"1970-01-01T00:00:00.000Z"],"c":${BIG},"toJSON":"a key"}`);
  });

  it('text that is no JSON is refused as JSON.parse refuses it', () => {
    for (const text of [
      `[${BIG}`,
      `{${BIG}:1}`,
      `0${BIG}`,
      `-${BIG}-`,
      `--${BIG}`,
      `${BIG}.`,
      `[${BIG},]`,
      `1.${BIG}e`,
    ]) {
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
  });

  it('no depth overflows the stack while reading', () => {
    const depth = 100_000;
    const value = parseJson(`${'['.repeat(depth)}${BIG}${']'.repeat(depth)}`);
    assert.deepEqual(leavesOf(value).map(String), [BIG]);
  });

  it('a number longer than any double costs no more than its characters', () => {
    const long = `1${'0'.repeat(5_000_000)}1`;
    const tookMs = cpuMilliseconds(() =>
      assert.equal(writeJson(parseJson(`[${long},1e${'9'.repeat(1_000_000)}]`)).length, long.length + 1_000_005),
    );
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
  });

  it('keep an exact number as a leaf when they are walked, sorted or rendered, and a masker masks it', () => {
    const value = parseJson(`{"b":[${BIG}],"a":${BIG}}`);
    const number = ownValue(value, 'a');
    assert.ok(number instanceof ExactNumber);
    assert.equal(isObject(number), false);
    assert.equal(ownValue(number, 'length'), undefined);
    assert.equal(writeJson(inKeyOrder(value)), `{"a":${BIG},"b":[${BIG}]}`);
    const values = { input: value as Record<string, unknown>, results: new Map() };
    assert.equal(renderText('{{ input.a }}/{{ input.b }}', values), `${BIG}/[${BIG}]`);
    assert.equal(writeJson(renderJson(['{{ input.a }}', 'is {{ input.a }}'], values)), `[${BIG},"is ${BIG}"]`);
    assert.equal(writeJson(createMasker([BIG]).json(value)), '{"b":["********"],"a":"********"}');
  });
});
