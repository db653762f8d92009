import assert from 'node:assert/strict';
import { countingOf } from '../../../api/access/admission.js';
import { isKnown, parseTags, parseWait, toETag } from '../../../api/http/conditional.js';

describe('the headers Prefer and If-None-Match of a poll', () => {
  const waits: [header: string | string[] | undefined, seconds: number | undefined][] = [
    ['wait=1', 1],
    ['wait=55', 55],
    ['wait=56', 55],
    ['wait=99999999999999999999', 55],
    ['WAIT="20"', 20],
    ['wait = 7', 7],
    ['respond-async, wait=10', 10],
    ['wait=10; foo=bar', 10],
    [['return=minimal', 'wait=3'], 3],
    ['wait=3, wait=9', 3],
    [undefined, undefined],
    ['', undefined],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=0', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=abc', undefined],
    ['wait=1e3', undefined],
    ['wait=999999999999999999999', undefined],
    ['waiting=10', undefined],
    ['respond-async', undefined],
    ['"wait=10"', undefined],
    ['note="a, wait=9", wait=4', 4],
    ['note="a, wait=9"', undefined],
    ['note="a \\", wait=9", wait=4', 4],
    ['wait="1\\2"', 12],
    ['note="never closed, wait=9', undefined],
    ['wait; foo=1, wait=4', undefined],
  ];
  for (const [header, seconds] of waits) {
    it(`Prefer: ${JSON.stringify(header)} means ${seconds === undefined ? 'no wait' : `${seconds} s`}`, () => {
      assert.equal(parseWait(header), seconds);
    });
  }

  const tags: [header: string | undefined, tags: string[]][] = [
    ['W/"7000000I0"', ['7000000I0']],
    ['"7000000I0"', ['7000000I0']],
    ['W/"7000000I0.aB-_9", W/"8000000S0"', ['7000000I0.aB-_9', '8000000S0']],
    ['W/"0"', ['0']],
    [undefined, []],
    ['', []],
    ['*', []],
    ['7000000I0', []],
    ['"a\'; DROP TABLE runs"', []],
    [`W/"${'9'.repeat(40)}I0"`, []],
    ['"x", W/"5S0"', ['5S0']],
  ];
  for (const [header, expected] of tags) {
    it(`If-None-Match: ${String(header)} names ${expected.length} of our tags`, () => {
      assert.deepEqual(parseTags(header), expected);
    });
  }

  it('of a long list only the first eight tags are compared', () => {
    const header = Array.from({ length: 500 }, (_, index) => `"${index + 1}S0"`).join(', ');
    assert.equal(parseTags(header).length, 8);
  });

  it('an answer is known by its whole tag, weak or not, and not by the state of its run alone', () => {
    const etag = toETag('7000000I0', 'abc');
    assert.ok(isKnown('W/"7000000I0.abc"', etag));
    assert.ok(isKnown('"1S0", "7000000I0.abc"', etag));
    for (const other of ['W/"7000000I0"', 'W/"7000000I0.abd"', 'W/"7000001I0.abc"', undefined]) {
      assert.ok(!isKnown(other, etag), other);
    }
  });

  it('a poll without a tag, or with a wait for a change, is counted at once, and any other poll only after its answer', () => {
    assert.equal(countingOf({ 'if-none-match': 'W/"7000000I0"', prefer: 'wait=10' }), '304 later');
    assert.equal(countingOf({ prefer: 'wait=10' }), 'now');
    assert.equal(countingOf({}), 'now');
    assert.equal(countingOf({ 'if-none-match': 'W/"7000000I0"' }), 'unless 304');
  });
});
