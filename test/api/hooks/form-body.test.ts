import assert from 'node:assert/strict';
import { isForm, readForm } from '../../../api/hooks/form-body.js';

describe('a form', () => {
  for (const [text, fields] of [
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&a=', { a: ['1', '2', ''] }],
    ['a&=b&&c==d=', { a: '', '': 'b', c: '=d=' }],
    ['text=a+b%2Bc%20%26%3D', { text: 'a b+c &=' }],
    ['%C3%BC=%F0%9F%98%80%e2%82%ac', { ü: '\u{1F600}€' }],
    ['x=%&y=%4&z=%zz&u=%u00fc&v=50%25', { x: '%', y: '%4', z: '%zz', u: '%u00fc', v: '50%' }],
    ['x=%E4%C3%BC%C3&y=%ED%A0%80&z=%00%41', { x: '%E4ü%C3', y: '%ED%A0%80', z: '%00A' }],
    ['payload={"a":[1]}&other={"a":[1]}', { payload: { a: [1] }, other: '{"a":[1]}' }],
    ['payload=%7B%22a%22%3A%22b+c%22%7D', { payload: { a: 'b c' } }],
    ['payload=text&payload=%5B1%5D&payload=', { payload: ['text', [1], ''] }],
    ['__proto__=1&constructor=2', JSON.parse('{"__proto__":"1","constructor":"2"}') as object],
  ] as const) {
    it(`${text} is read`, () => assert.deepEqual(readForm(text), fields));
  }

  it('is recognized by its media type, in any case and with parameters', () => {
    for (const type of ['application/x-www-form-urlencoded', 'Application/X-WWW-Form-URLencoded ; charset=utf-8']) {
      assert.equal(isForm(type), true, type);
    }
    for (const type of ['', 'application/json', 'application/x-www-form-urlencoded2', 'multipart/form-data']) {
      assert.equal(isForm(type), false, type);
    }
  });

  it('has at most ten thousand fields', () => {
    assert.equal(
      Object.keys(readForm(Array.from({ length: 10_000 }, (_, index) => `f${index}=`).join('&'))).length,
      10_000,
    );
    assert.throws(() => readForm('a=&'.repeat(10_000)), { status: 400, code: 'parse_error' });
  });
});
