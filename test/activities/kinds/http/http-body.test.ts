import assert from 'node:assert/strict';
import { toHttpBody } from '../../../../activities/kinds/http/http-body.js';

describe('HTTP node body', () => {
  it('sends nothing for an absent body, and for the empty object that editors save on a GET', () => {
    for (const body of [undefined, null, '']) assert.equal(toHttpBody('POST', body, {}), undefined);
    assert.equal(toHttpBody('GET', {}, {}), undefined);
    assert.equal(toHttpBody('HEAD', [], {}), undefined);
    assert.equal(toHttpBody('POST', {}, {}), '{}');
  });

  it('sends text as it is and everything else as JSON, naming the type where the node does not', () => {
    const headers: Record<string, string> = {};
    assert.equal(toHttpBody('POST', { a: [1, null] }, headers), '{"a":[1,null]}');
    assert.equal(headers['content-type'], 'application/json');
    const named = { 'Content-Type': 'text/csv' };
    assert.equal(toHttpBody('POST', 'a;b', named), 'a;b');
    assert.deepEqual(named, { 'Content-Type': 'text/csv' });
    assert.equal(toHttpBody('POST', false, {}), 'false');
    assert.equal(toHttpBody('POST', 0, {}), '0');
  });

  it('sends an object as a form where the node says so', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal(
      toHttpBody('POST', { a: 'x y', b: 1, c: null, d: { e: 1 } }, headers),
      'a=x+y&b=1&c=&d=%7B%22e%22%3A1%7D',
    );
  });
});
