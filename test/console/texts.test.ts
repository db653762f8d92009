import assert from 'node:assert/strict';
import { RunNotFoundError, ServiceError } from '../../clients/typescript/src/index.js';
import { explain, fieldErrors, isNotFound } from '../../console/service/explain.js';
import { formatDuration } from '../../console/ui/format.js';

const failure = (status: number, body: unknown, headers = {}) =>
  new ServiceError(new Response(null, { status, headers }), body);

describe('what the console says of a failed call', () => {
  it('is a plain sentence for each kind of failure', () => {
    const cases: [error: unknown, sentence: RegExp][] = [
      [new TypeError('Failed to fetch'), /^The service cannot be reached\. Check your connection\.$/],
      [failure(401, { detail: 'x', code: 'x' }), /^Your session has ended\. Sign in again\.$/],
      [
        failure(403, { detail: 'You do not have permission to perform this action.', code: 'permission_denied' }),
        /^Your role does not permit this\.$/,
      ],
      [failure(403, { detail: 'Only owners do.', code: 'x' }), /^Your role does not permit this\. Only owners do\.$/],
      [failure(404, { detail: 'Not found.', code: 'not_found' }), /^Not found\. It does not exist, or/],
      [failure(409, { detail: 'Decided already.', code: 'x' }), /^Decided already\.$/],
      [failure(412, { detail: 'x', code: 'x' }), /^Somebody else has changed this meanwhile\.$/],
      [failure(429, {}, { 'retry-after': '1' }), /^Too many requests\. Try again in 1 second\.$/],
      [failure(429, {}, { 'retry-after': '42' }), /^Too many requests\. Try again in 42 seconds\.$/],
      [failure(503, '<h1>Bad gateway</h1>'), /^The service is busy or restarting\. Try again in a moment\.$/],
      [failure(500, {}, { 'x-request-id': 'r-1' }), /^The service has failed to do this\. .*request id r-1\.$/],
      [failure(400, { title: ['Too long.', 'Odd.'] }), /^title: Too long\. Odd\.$/],
      [failure(418, null), /^The service has refused this \(418\)\.$/],
      [new RunNotFoundError('r'), /^There is no such run, or its results have expired\.$/],
      [new Error('broken'), /^Something went wrong in this page: broken$/],
    ];
    for (const [error, sentence] of cases) assert.match(explain(error), sentence);
  });

  it('may be said in other words for a status', () => {
    assert.equal(explain(failure(401, {}), { 401: 'Wrong.' }), 'Wrong.');
  });

  it('stands beside the fields that a 400 names, and nowhere else', () => {
    assert.deepEqual(fieldErrors(failure(400, { title: ['Too long.', 'Odd.'] })), { title: 'Too long. Odd.' });
    assert.deepEqual(fieldErrors(failure(400, { detail: 'x', code: 'x' })), {});
    assert.deepEqual(fieldErrors(new Error('x')), {});
  });

  it('is the page Not found for a 404 and for a run without results alone', () => {
    assert.deepEqual([failure(404, {}), new RunNotFoundError('r'), failure(403, {}), undefined].map(isNotFound), [
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('lengths of time in the console', () => {
  it('are short, in two units at most, and never round up to a unit that they do not name', () => {
    const cases: [ms: number, text: string][] = [
      [-5, '0 ms'],
      [0.4, '0 ms'],
      [87, '87 ms'],
      [999.4, '999 ms'],
      [999.6, '1.0 s'],
      [4_240, '4.2 s'],
      [59_940, '59.9 s'],
      [59_960, '1 min'],
      [185_000, '3 min 5 s'],
      [3_599_600, '1 h'],
      [7_800_000, '2 h 10 min'],
      [273_600_000, '3 d 4 h'],
    ];
    for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
  });
});
