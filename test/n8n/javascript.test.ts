// The import reads the JavaScript of n8n without executing it: the names and nodes that it uses, and its variables.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readBody, readExpression } from '../../n8n/javascript.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

function namesOf(source: string): string[] | string {
  const read = readExpression(source);
  return 'reason' in read ? read.reason : [...read.names].toSorted();
}

describe('JavaScript of n8n', () => {
  it('tells which names of n8n an expression uses, whatever is around it', () => {
    assert.deepEqual(namesOf(' ($json.a ?? 1) + $itemIndex ; // why'), ['$itemIndex', '$json']);
    assert.deepEqual(namesOf('[1, 2].map((item) => item * $json.n)'), ['$json']);
    assert.deepEqual(namesOf('({ $json: 1 }).$json'), []);
    assert.deepEqual(namesOf('DateTime.now().plus({ days: 1 })'), ['DateTime']);
  });

  it('refuses what code nodes do not have', () => {
    assert.equal(namesOf('$vars.region'), 'it uses "$vars", which code nodes do not have');
    assert.equal(namesOf('$json.list.first()'), '"first()" is a method that n8n adds');
    assert.equal(namesOf('a b'), 'it is no single expression');
    assert.equal(namesOf('$json.'), 'it is no JavaScript');
    assert.equal(namesOf('this.x'), 'it uses "this"');
  });

  it('tells which nodes are read, and from which of them the item that is paired with the own one', () => {
    const read = readExpression('$("A").first().json.x + $node["B"].json.y + $(`C`).item.json.z');
    assert.ok('nodes' in read);
    assert.deepEqual([...read.nodes].toSorted(), ['A', 'B', 'C']);
    assert.deepEqual([...read.paired].toSorted(), ['B', 'C']);
    assert.deepEqual(namesOf('$($json.name).first()'), 'it names a node in a way that is known only when it runs');
  });

  it('refuses other outputs and runs of a node, and tells of which nodes the first output is read', () => {
    const another = 'it reads another output or run of a node';
    const refused = ['$("A").all(1)', '$("A").first(0, 1)', '$("A").last(n)', '$input.all(1)', '$items("A", 1)'];
    for (const source of [
      ...refused,
      '$items("A", 0, n)',
      '$("A").all(...[1])',
      '$items("A", ...[1])',
      '$("A")?.all(1)',
    ]) {
      assert.deepEqual(readBody(`const n = 0; return ${source};`), { reason: another }, source);
    }
    for (const source of [
      '$("A").all(0)',
      '$("A").first(0)',
      '$items("A")',
      '$items("A", 0)',
      '$items("A", 0, 0)',
      '$items("A", 0, $runIndex)',
    ]) {
      const read = readBody(`return ${source};`);
      assert.ok('firstOutputs' in read, source);
      assert.deepEqual([...read.firstOutputs], ['A'], source);
    }
    const plain = readBody('return [...$("A").all(), $("A").first(), $("A").itemMatching(1), $input.all(), $items()];');
    assert.ok('firstOutputs' in plain);
    assert.deepEqual([...plain.firstOutputs], []);
  });

  it('reads what follows an expression in linear time', () => {
    for (const rest of ['/'.repeat(50_000), ' '.repeat(50_000), '/**/'.repeat(10_000), `/*${'*'.repeat(50_000)}`]) {
      const tookMs = cpuMilliseconds(() => namesOf(`$json.a ${rest}\nb`));
      assert.ok(tookMs < 2_000, `${tookMs} ms`);
    }
    assert.deepEqual(namesOf('$json.a /* x **/ ; // why\n/* y */'), ['$json']);
    assert.equal(namesOf('$json.a ; ; 1'), 'it is no single expression');
  });

  it('leaves the names that code nodes define undeclared where code sets them', () => {
    const read = readBody('items = items.filter((i) => i.json.ok); total = 1; return items;');
    assert.ok('undeclared' in read);
    assert.deepEqual([...read.undeclared], ['total']);
  });

  it('finds the variables that code sets without a declaration', () => {
    const read = readBody('total = 0; for (const item of items) total += item.json.n; return { total };');
    assert.ok('undeclared' in read);
    assert.deepEqual([...read.undeclared], ['total']);
  });

  it('never throws, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        readExpression(text);
        readBody(text);
      }),
      { numRuns: 2_000 },
    );
    readExpression('('.repeat(100_000));
  });
});
