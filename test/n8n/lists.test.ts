// A node of n8n gets a list of items and puts out a list. An imported node does for each item what n8n does for it.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../graph/json.js';
import { playNodes as run, type Drawn } from './play-nodes.js';

const items = (list: readonly JsonObject[]): Drawn => ({
  type: 'code',
  version: 2,
  parameters: { jsCode: `return ${JSON.stringify(list)};` },
});
const asks = (operation: string, rightValue: unknown): JsonObject => ({
  conditions: {
    options: { caseSensitive: true, typeValidation: 'strict' },
    combinator: 'and',
    conditions: [{ leftValue: '={{ $json.n }}', rightValue, operator: { type: 'number', operation } }],
  },
});
const request = (settings: JsonObject = {}): Drawn => ({
  type: 'httpRequest',
  version: 4.2,
  parameters: { url: '=https://example.com/{{ $json.n + 1 }}' },
  settings,
});

const numbers = (...list: number[]): JsonObject[] => list.map((n) => ({ n }));

describe('several items of n8n', function () {
  this.timeout(60_000);

  it('are each sent to the output of a decision that they belong to', async () => {
    const noOp: Drawn = { type: 'noOp', to: [] };
    const { of, warnings } = await run({
      Items: items(numbers(1, 2, 3)),
      If: { type: 'if', version: 2.2, parameters: asks('gt', 1), to: [['Yes'], ['No']] },
      Yes: noOp,
      No: noOp,
    });
    assert.deepEqual([of('Yes'), of('No')], [numbers(2, 3), numbers(1)]);
    assert.deepEqual(warnings, []);
  });

  it('do not take a branch whose list is empty', async () => {
    const { hasRun, of } = await run({
      Items: items(numbers(1, 2)),
      Filter: { type: 'filter', version: 2.2, parameters: asks('gt', 5) },
      After: { type: 'noOp' },
    });
    assert.equal(hasRun('After'), false);
    assert.deepEqual(of('Filter'), []);
  });

  it('become one request each, with expressions evaluated for each, and lists of answers become items', async () => {
    const { of, urls } = await run(
      {
        Items: items(numbers(1, 2)),
        Get: request(),
        Last: { type: 'code', version: 2, parameters: { jsCode: 'return items;' } },
      },
      (url) => [{ url }, { again: url }],
    );
    assert.deepEqual(urls, ['https://example.com/2', 'https://example.com/3']);
    assert.deepEqual(
      of('Last'),
      urls.flatMap((url) => [{ url }, { again: url }]),
    );
  });

  it('leave a request by the output for errors where they fail, with the error', async () => {
    const { of, caught } = await run(
      {
        Items: items(numbers(1, 2)),
        Get: { ...request({ onError: 'continueErrorOutput' }), to: [['Fine'], ['Failed']] },
        Fine: { type: 'noOp', to: [] },
        Failed: { type: 'noOp', to: [] },
      },
      (url) => {
        if (url.endsWith('/2')) throw Object.assign(new Error('Not today.'), { code: 'http_status' });
        return { url };
      },
    );
    assert.deepEqual(caught, ['Not today.']);
    assert.deepEqual(of('Fine'), [{ url: 'https://example.com/3' }]);
    assert.deepEqual(of('Failed'), [{ n: 1, error: { message: 'Not today.' } }]);
  });

  it('are, after any filter, those that Array.filter keeps, in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }),
        fc.integer({ min: 0, max: 9 }),
        async (list, least) => {
          const { of } = await run({
            Items: items(numbers(...list)),
            Filter: { type: 'filter', version: 2.2, parameters: asks('gte', least) },
            Double: {
              type: 'set',
              version: 3.4,
              parameters: {
                assignments: { assignments: [{ name: 'n', type: 'number', value: '={{ $json.n * 2 }}' }] },
              },
            },
          });
          const kept = list.filter((n) => n >= least);
          assert.deepEqual(of('Filter'), numbers(...kept));
          if (kept.length > 0) assert.deepEqual(of('Double'), numbers(...kept.map((n) => 2 * n)));
        },
      ),
      { numRuns: 25 },
    );
  });
});
