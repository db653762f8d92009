import assert from 'node:assert/strict';
import { readAllPages } from '../../../console/service/calls.js';
import { NEW_KEY, toBody, toFields } from '../../../console/pages/settings/key-fields.js';

describe('the fields of an API key', () => {
  it('send what differs only, so that a time that has passed may stay', () => {
    const before = toFields({
      label: 'old',
      expires_at: '2020-01-31T12:00:30.000Z',
      project: 7,
      scope: 'run',
      rate_limit: null,
    });
    assert.deepEqual(toBody(before, before), {});
    assert.deepEqual(toBody(before, { ...before, label: 'new' }), { label: 'new' });
    assert.deepEqual(toBody(before, { ...before, scope: 'read' }), { scope: 'read' });
    assert.deepEqual(toBody(before, { ...before, expires: '', project: '', rateLimit: '60' }), {
      expires_at: null,
      project: null,
      rate_limit: 60,
    });
  });

  it('hold the moment in the time of the person, and send it with its offset', () => {
    const { expires } = toFields({
      label: '',
      expires_at: '2030-01-31T12:00:00.000Z',
      project: null,
      scope: 'full',
      rate_limit: null,
    });
    assert.match(expires, /^2030-0[12]-\d{2}T\d{2}:\d{2}$/);
    assert.deepEqual(toBody(NEW_KEY, { ...NEW_KEY, expires }), { expires_at: '2030-01-31T12:00:00.000Z' });
  });

  it('let the service judge what is no time, and what is no number', () => {
    assert.deepEqual(toBody(NEW_KEY, { ...NEW_KEY, expires: 'soon' }), { expires_at: 'soon' });
    for (const rateLimit of ['1,000', 'Infinity']) {
      assert.deepEqual(toBody(NEW_KEY, { ...NEW_KEY, rateLimit }), { rate_limit: rateLimit });
    }
  });
});

describe('all pages of a list', () => {
  it('are read until everything is there, or a page is empty', async () => {
    const asked: number[] = [];
    const read = (total: number) => (page: number) => {
      asked.push(page);
      return Promise.resolve({ total, items: page <= 3 ? [page] : [] });
    };
    assert.deepEqual(await readAllPages(read(3)), [1, 2, 3]);
    assert.deepEqual(await readAllPages(read(9)), [1, 2, 3]);
    assert.deepEqual(asked, [1, 2, 3, 1, 2, 3, 4]);
  });

  it('are twenty at most, however many the service says there are', async () => {
    const asked: number[] = [];
    const endless = (page: number) => {
      asked.push(page);
      return Promise.resolve({ total: Infinity, items: [page] });
    };
    assert.equal((await readAllPages(endless)).length, 20);
    assert.equal(asked.length, 20);
  });
});
