import assert from 'node:assert/strict';
import { parseStructure } from '../../../console/ui/json.js';
import { searchJson, splitAtMatches, toVariable } from '../../../console/parts/node-result/json-search.js';
import { parseVariable } from '../../../graph/variable.js';

describe('the search in a result', () => {
  const value = { items: [{ 'a name': 'Ada' }, { city: 'Adana', count: 42 }], 'say "hi"': null };

  it('finds keys and values in the order in which they are shown, whatever their capitals', () => {
    assert.deepEqual(searchJson(value, 'ADA').paths, [
      ['items', '0', 'a name'],
      ['items', '1', 'city'],
    ]);
    assert.deepEqual(searchJson(value, 'count').paths, [['items', '1', 'count']]);
    assert.deepEqual(searchJson(value, '42').paths, [['items', '1', 'count']]);
    assert.deepEqual(searchJson(value, '0').paths, [], 'the numbers of items are no keys');
    assert.deepEqual(searchJson(value, '').paths, []);
    assert.deepEqual(splitAtMatches('Ada and adam', 'ada'), ['', 'Ada', ' and ', 'ada', 'm']);
  });

  it('names a place as variables do', () => {
    const [first, second, third] = [['items', '0', 'a name'], ['items', '1', 'city'], ['say "hi"']].map((path) =>
      toVariable('CALL.result', value, path),
    );
    assert.equal(first, '{{ CALL.result.items[0]["a name"] }}');
    assert.equal(second, '{{ CALL.result.items[1].city }}');
    assert.deepEqual(parseVariable(third!.slice(2, -2)), { source: 'node', nodeId: 'CALL', path: ['say "hi"'] });
  });

  it('takes less than a second for 5 MB, and stops after a limited number of matches', () => {
    const rows = Array.from({ length: 60_000 }, (_, index) => ({
      id: index,
      name: `Person ${index}`,
      note: 'x'.repeat(40),
    }));
    const text = JSON.stringify(rows);
    assert.ok(text.length > 5_000_000);
    const before = process.cpuUsage();
    const parsed = parseStructure(text);
    assert.deepEqual(searchJson(parsed, 'person 59999').paths, [['59999', 'name']]);
    assert.ok(searchJson(parsed, 'person').isCut);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${user + system} µs of processor time`);
  });

  it('survives deep nesting', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}"end"${']'.repeat(20_000)}`) as unknown;
    assert.equal(searchJson(deep, 'end').paths.length, 1);
  });
});
