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

  it('give the first output of a decision one empty item if it would have none and always has data', async () => {
    const noOp: Drawn = { type: 'noOp', to: [] };
    const settings = { alwaysOutputData: true };
    const If: Drawn = { type: 'if', version: 2.2, parameters: asks('gt', 5), settings, to: [['Yes'], ['No']] };
    const decide = (before: Record<string, Drawn>) => run({ ...before, If, Yes: noOp, No: noOp });
    const several = await decide({ Items: items(numbers(1, 2)) });
    assert.deepEqual([several.of('Yes'), several.of('No')], [[{}], numbers(1, 2)]);
    const one = await decide({});
    assert.deepEqual([one.of('Yes'), one.of('No')], [{}, {}]);
    const none = await decide({ Items: items([]) });
    assert.deepEqual([none.hasRun('Yes'), none.hasRun('No')], [false, false]);
  });

  it('become one empty item behind a request that always has data, where all of its answers are empty', async () => {
    const Last: Drawn = { type: 'code', version: 2, parameters: { jsCode: 'return items;' } };
    const Get = request({ alwaysOutputData: true });
    const once = await run({ Get, Last }, () => []);
    assert.deepEqual(once.of('Last'), [{}]);
    const empty = await run({ Items: items(numbers(1, 2)), Get, Last }, () => []);
    assert.deepEqual(empty.of('Last'), [{}]);
    const isSecond = (url: string): boolean => url.endsWith('/3');
    const some = await run({ Items: items(numbers(1, 2)), Get, Last }, (url) => (isSecond(url) ? [{ url }] : []));
    assert.deepEqual(some.of('Last'), [{ url: 'https://example.com/3' }]);
    const none = await run({ Items: items([]), Get, Last });
    assert.deepEqual([none.urls, none.of('Last')], [[], []]);
  });

  it('keep the query of an address that is known only when it runs', async () => {
    const query = { sendQuery: true, queryParameters: { parameters: [{ name: 'page', value: '2' }] } };
    const { urls } = await run({
      Items: items([{ url: 'https://example.com/a?b=1' }, { url: 'https://example.com/a' }]),
      Get: { type: 'httpRequest', version: 4.2, parameters: { url: '={{ $json.url }}', ...query } },
    });
    assert.deepEqual(urls, ['https://example.com/a?b=1&page=2', 'https://example.com/a?page=2']);
  });

  it('are not sent without parameters that cannot be computed, although the node continues after errors', async () => {
    const body = { sendBody: true, specifyBody: 'json', jsonBody: '={"a": {{ $json.a ?? "" }} }' };
    const Send: Drawn = {
      type: 'httpRequest',
      version: 4.2,
      parameters: { method: 'POST', url: 'https://example.com', ...body },
      settings: { onError: 'continueRegularOutput' },
    };
    const warning = 'If a parameter is no valid JSON, the run fails here: another node computes it before this one.';
    for (const before of [{}, { Items: items(numbers(1)) }]) {
      const { urls, caught, warnings } = await run({ ...before, Send });
      assert.deepEqual(urls, []);
      assert.equal(caught.length, 1);
      assert.ok(warnings.some(({ message }) => message === warning));
    }
  });

  it('take the same way as in n8n if the value that is asked for is missing', async () => {
    const noOp: Drawn = { type: 'noOp', to: [] };
    const operator = { type: 'boolean', operation: 'false', singleValue: true };
    const isFalse = {
      conditions: {
        options: { caseSensitive: true, typeValidation: 'strict' },
        combinator: 'and',
        conditions: [{ leftValue: '={{ $json.n }}', rightValue: '', operator }],
      },
    };
    const old = (type: string, operation: string, value2: unknown): JsonObject => ({
      conditions: { [type]: [{ value1: '={{ $json.n }}', operation, value2 }] },
    });
    const cases: [version: number, parameters: JsonObject, isTaken: boolean][] = [
      [2.2, asks('lt', 5), false],
      [2.2, asks('lte', 5), false],
      [2.2, asks('gt', 5), false],
      [2.2, isFalse, true],
      [1, old('number', 'larger', -1), true],
      [1, old('number', 'smaller', 0), false],
      [1, old('number', 'smaller', 5), true],
      [1, old('boolean', 'equal', false), false],
    ];
    for (const [version, parameters, isTaken] of cases) {
      const If: Drawn = { type: 'if', version, parameters, to: [['Yes'], ['No']] };
      const { hasRun } = await run({ If, Yes: noOp, No: noOp });
      assert.deepEqual([hasRun('Yes'), hasRun('No')], [isTaken, !isTaken], JSON.stringify(parameters));
    }
  });

  const setTo = (values: Record<string, unknown>): Drawn => ({
    type: 'set',
    version: 3.4,
    parameters: {
      assignments: { assignments: Object.entries(values).map(([name, value]) => ({ name, type: 'number', value })) },
    },
  });

  it('of a decision are read by its name from the output that leads to the reader', async () => {
    const If: Drawn = { type: 'if', version: 2.2, parameters: asks('lt', 2), to: [['Yes'], ['No']] };
    const jsCode = "return { all: $('If').all().map(({ json }) => json.n), first: $('If').first().json.n };";
    const Code: Drawn = { type: 'code', version: 2, parameters: { jsCode }, to: [] };
    const several = await run({ Items: items(numbers(1, 2, 3)), If, Yes: Code, No: Code });
    assert.deepEqual([several.of('Yes'), several.of('No')], [[{ all: [1], first: 1 }], [{ all: [2, 3], first: 2 }]]);
    const Set = { ...setTo({ x: '={{ $("If").item.json.n }}', y: '={{ $node["If"].json.n + 1 }}' }), to: [] };
    const one = await run({ One: setTo({ n: 7 }), If, Yes: Set, No: Set });
    assert.deepEqual([one.hasRun('Yes'), one.of('No')], [false, { x: 7, y: 8 }]);
    assert.deepEqual([...several.warnings, ...one.warnings], []);
    const after = { Yes: { type: 'noOp', to: [['Both']] }, No: { type: 'noOp' }, Both: Set };
    const both = await run({ One: setTo({ n: 7 }), If, ...after });
    const reason = 'the items of that node come here by several ways';
    assert.deepEqual(
      both.warnings.map(({ message }) => message),
      [
        `fields.x: the expression "$("If").item.json.n" was kept as text: ${reason}.`,
        `fields.y: the expression "$node["If"].json.n + 1" was kept as text: ${reason}.`,
      ],
    );
    for (const read of ["$items('If')", "$('If').all(0)"]) {
      const No: Drawn = { type: 'code', version: 2, parameters: { jsCode: `return ${read};` }, to: [] };
      const { of, warnings } = await run({ Items: items(numbers(1, 2)), If, Yes: No, No });
      assert.deepEqual(of('Yes'), numbers(1));
      const plain = await run({ One: setTo({ n: 1 }), If: { ...If, parameters: asks('gt', 5) }, Yes: No, No });
      assert.deepEqual(plain.warnings, warnings);
      assert.deepEqual(
        warnings.map(({ message }) => message),
        [
          'n8n-nodes-base.code was left out: its code reads data that is not there: ' +
            'it reads the output 0 of that node, and another one leads here.',
        ],
      );
    }
  });

  it('of all branches that meet become one request each, although its parameters read nothing of them', async () => {
    const parameters = { channelId: { __rl: true, mode: 'id', value: 'C1' }, select: 'channel', text: 'Hello.' };
    const Send: Drawn = { type: 'slack', version: 2.2, parameters };
    const If: Drawn = { type: 'if', version: 2.2, parameters: asks('gt', 1), to: [['Yes'], ['No']] };
    const branches = { Yes: setTo({ a: 1 }), No: setTo({ b: 1 }) };
    for (const next of ['Send', 'Wait']) {
      const to = [[next]];
      const { urls } = await run({
        Items: items(numbers(1, 2, 3)),
        If,
        Yes: { ...branches.Yes, to },
        No: { ...branches.No, to },
        ...(next === 'Wait' && { Wait: { type: 'wait', version: 1.1, parameters: { amount: 1, unit: 'seconds' } } }),
        Send,
      });
      assert.equal(urls.length, 3, next);
    }
  });

  it('come behind a decision only by the way that was taken, where ways meet', async () => {
    const meet = async (n: number, decision: Drawn, others: Record<string, Drawn>): Promise<unknown> => {
      const Last: Drawn = { type: 'code', version: 2, parameters: { jsCode: 'return items;' } };
      const { of } = await run({ One: setTo({ n }), Decision: decision, ...others, Last });
      return of('Last');
    };
    const If = (...to: string[][]): Drawn => ({ type: 'if', version: 2.2, parameters: asks('gt', 1), to });
    const Other: Drawn = { ...setTo({ other: 1 }), to: [['Last']] };
    const other = [{ other: 1 }];
    assert.deepEqual(await meet(2, If(['Last'], ['Other']), { Other }), numbers(2));
    assert.deepEqual(await meet(1, If(['Last'], ['Other']), { Other }), other);
    const Switch = (isAll: boolean, ...to: string[][]): Drawn => ({
      type: 'switch',
      version: 3.2,
      parameters: {
        rules: { values: [asks('gt', 1), asks('gt', 2)] },
        options: { fallbackOutput: 'extra', allMatchingOutputs: isAll },
      },
      to,
    });
    for (const isAll of [false, true]) {
      assert.deepEqual(await meet(2, Switch(isAll, ['Other'], [], ['Last']), { Other }), other);
      assert.deepEqual(await meet(0, Switch(isAll, ['Other'], [], ['Last']), { Other }), numbers(0));
      assert.deepEqual(await meet(0, Switch(isAll, ['Last'], [], ['Other']), { Other }), other);
    }
    const Pass: Drawn = { type: 'noOp', to: [['Merge']] };
    const Merge: Drawn = { type: 'merge', version: 3.2 };
    for (const n of [1, 2]) {
      assert.deepEqual(await meet(n, If(['Merge'], ['Merge#1']), { Merge }), numbers(n));
      assert.deepEqual(await meet(n, If(['Pass'], ['Merge#1']), { Pass, Merge }), numbers(n));
      const both = { Pass, Also: Pass, Merge };
      assert.deepEqual(await meet(n, If(['Pass'], ['Also']), both), numbers(n));
    }
  });

  it('come from all outputs that a decision takes at once', async () => {
    const rules = { values: [asks('lt', 5), asks('lt', 6)] };
    const { of, warnings } = await run({
      One: setTo({ n: 1 }),
      Switch: {
        type: 'switch',
        version: 3.2,
        parameters: { rules, options: { allMatchingOutputs: true } },
        to: [['A'], ['B']],
      },
      A: { ...setTo({ a: 1 }), to: [['After']] },
      B: setTo({ b: 1 }),
      After: { type: 'code', version: 2, parameters: { jsCode: 'return items;' } },
    });
    assert.deepEqual(of('After'), [{ a: 1 }, { b: 1 }]);
    assert.equal(warnings.filter(({ message }) => message.startsWith('n8n runs this node once for each')).length, 1);
  });

  it('of pages come from the addresses that answers name, of which none precedes the first page', async () => {
    const pagination = {
      paginationMode: 'responseContainsNextURL',
      nextURL: "={{ $response.body?.next ?? '' }}",
      paginationCompleteWhen: 'other',
      completeExpression: '={{ $response.body.isLast }}',
    };
    const parameters = { url: 'https://example.com/1', options: { pagination: { pagination } } };
    const Get: Drawn = { type: 'httpRequest', version: 4.2, parameters };
    const json = { headers: { 'content-type': 'application/json' } };
    const next = 'https://example.com/2';
    const { urls, caught } = await run({ Get }, (url) => (url === next ? { isLast: true } : { next }), json);
    assert.deepEqual([urls, caught], [['https://example.com/1', next], []]);
    const empty = await run({ Get }, () => ({ next: '' }), json);
    assert.equal(empty.urls.length, 1);
    assert.match(empty.caught.join(), /The address of the next page is empty/);
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
