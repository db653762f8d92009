import assert from 'node:assert/strict';
import {
  freshOf,
  missingOf,
  withChanges,
  withOlder,
  type Approval,
} from '../../../console/parts/requests/approvals.js';

/** A request; a higher number is newer. Lists start with the newest. */
const request = (number: number, status: Approval['status'] = 'pending') =>
  ({ request_id: `r${number}`, created_at: `2030-01-01T00:00:0${number}.000Z`, status }) as Approval;
const ids = (requests: readonly Approval[]) => requests.map(({ request_id: id }) => id);

describe('the list of requests that wait', () => {
  const shown = [request(3), request(2)];

  it('keeps new requests back, which would push down what is being read', () => {
    const listed = [request(5), request(4), ...shown];
    assert.deepEqual(ids(freshOf(shown, listed)), ['r5', 'r4']);
    assert.equal(withOlder(shown, listed), shown);
  });

  it('goes on at its end with older requests, which moves nothing', () => {
    const listed = [...shown, request(1)];
    assert.deepEqual(freshOf(shown, listed), []);
    assert.deepEqual(ids(withOlder(shown, listed)), ['r3', 'r2', 'r1']);
  });

  it('keeps a request that others have decided where it is, with its outcome', () => {
    const listed = [request(3)];
    assert.deepEqual(missingOf(shown, listed), ['r2']);
    const now = withChanges(shown, [request(2, 'rejected')]);
    assert.deepEqual(
      now.map(({ status }) => status),
      ['pending', 'rejected'],
    );
    assert.deepEqual(missingOf(now, listed), [], 'and asks for it no more');
  });

  it('shows everything at once where nothing is being read', () => {
    assert.deepEqual(freshOf([], shown), []);
    assert.deepEqual(ids(withOlder([], shown)), ['r3', 'r2']);
  });
});
