import assert from 'node:assert/strict';
import { ExactNumber } from '../../../graph/exact-number.js';
import { partsOutsideTables, sortedPositions, tablesIn, toCsv } from '../../../console/ui/rows.js';

describe('lists of objects as tables', () => {
  it('are found in a value and in its fields, with the columns of all rows', () => {
    assert.deepEqual(tablesIn([{ a: 1 }, { b: 2 }]), [{ path: [], rows: [{ a: 1 }, { b: 2 }], columns: ['a', 'b'] }]);
    const found = tablesIn({
      page: { items: [{ a: 1 }] },
      orders: [{ id: 1 }],
      none: [],
      texts: ['a'],
      mixed: [{ a: 1 }, 2],
    });
    assert.deepEqual(
      found.map(({ path }) => path),
      [['orders'], ['page', 'items']],
    );
    assert.deepEqual(tablesIn('text'), []);
  });

  it('leave the parts of a value beside them, each with its path', () => {
    const page = { items: [{ a: 1 }], next: 2, links: { self: 'x' } };
    assert.deepEqual(partsOutsideTables({ total: 3, page, none: [], texts: ['a'] }), [
      { path: ['total'], value: 3 },
      { path: ['page', 'next'], value: 2 },
      { path: ['page', 'links'], value: { self: 'x' } },
      { path: ['none'], value: [] },
      { path: ['texts'], value: ['a'] },
    ]);
    assert.deepEqual(partsOutsideTables([{ a: 1 }]), []);
    for (const value of ['text', { a: 1, b: [1, 2] }]) {
      assert.deepEqual(partsOutsideTables(value), [{ path: [], value }], 'a value without a table stays whole');
    }
  });

  it('sort numbers as numbers, and leave what is missing at the end', () => {
    const [table] = tablesIn([{ n: 10 }, { n: 9 }, {}, { n: new ExactNumber('100') }]);
    const sorted = (isDescending: boolean) => sortedPositions(table!, { column: 'n', isDescending });
    assert.deepEqual(sorted(false), [1, 0, 3, 2]);
    assert.deepEqual(sorted(true), [3, 0, 1, 2]);
    assert.deepEqual(sortedPositions(table!, undefined), [0, 1, 2, 3]);
  });
});

describe('tables as CSV', () => {
  const csvOf = (rows: object[]): string => {
    const [table] = tablesIn(rows);
    return toCsv(table!, sortedPositions(table!, undefined));
  };

  it('quote what needs it, and keep the digits of numbers', () => {
    const rows = [
      { 'a,b': 'say "hi"', n: new ExactNumber('12345678901234567890') },
      { 'a,b': 'two\nlines', n: null },
    ];
    assert.equal(csvOf(rows), '"a,b",n\r\n"say ""hi""",12345678901234567890\r\n"two\nlines",\r\n');
    assert.equal(csvOf([{ list: [1, 'x'] }]), 'list\r\n"[1,""x""]"\r\n');
  });

  it('have all columns, however many', () => {
    const names = Array.from({ length: 60 }, (_, at) => `c${at}`);
    const [head] = csvOf([Object.fromEntries(names.map((name) => [name, 1]))]).split('\r\n');
    assert.equal(head, names.join(','));
  });

  it('have no cell that a spreadsheet would execute', () => {
    for (const cell of ['=1+1', '+1', '-1+1', '-A1', '-', '@SUM(A1)', '\t=1', '\r=1']) {
      const [, line] = csvOf([{ v: cell }]).split(/\r\n/);
      assert.match(line!, /^"?'/, JSON.stringify(cell));
    }
    assert.equal(csvOf([{ '=head': '=5' }]), "'=head\r\n'=5\r\n");
  });

  it('have negative numbers as numbers', () => {
    for (const cell of [-5, '-5', -0.25, '-12.50', new ExactNumber('-12345678901234567890'), -1e21]) {
      assert.equal(csvOf([{ v: cell }]), `v\r\n${String(cell)}\r\n`);
    }
  });
});
