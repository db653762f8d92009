import assert from 'node:assert/strict';
import { toPoolBody, toPoolFields } from '../../../console/pages/settings/pool-fields.js';

describe('the fields of the pools of a project', () => {
  const before = toPoolFields({ pool: 'office', pools: ['lab', 'home'] });

  it('send what differs only, so that what somebody else has changed meanwhile stays', () => {
    assert.deepEqual(before, { pool: 'office', others: 'lab, home' });
    assert.deepEqual(toPoolBody(before, before), {});
    assert.deepEqual(toPoolBody(before, { ...before, pool: ' attic ' }), { pool: 'attic' });
    assert.deepEqual(toPoolBody(before, { ...before, others: 'lab' }), { pools: ['lab'] });
    assert.deepEqual(toPoolBody(before, { pool: 'office ', others: 'lab  home,' }), {}, 'the same names');
  });

  it('are empty for the pool default, and where a project has no other pools', () => {
    assert.deepEqual(toPoolBody(before, { pool: '', others: ' ' }), { pool: null, pools: [] });
    const none = toPoolFields({ pool: null, pools: [] });
    assert.deepEqual(toPoolBody(none, none), {});
    assert.deepEqual(toPoolBody(none, { pool: 'lab', others: 'a b,c' }), { pool: 'lab', pools: ['a', 'b', 'c'] });
  });
});
