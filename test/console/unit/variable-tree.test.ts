import assert from 'node:assert/strict';
import { partsOf, searchVariables, withValue } from '../../../console/drawing/variable-tree.js';
import { ExactNumber } from '../../../graph/exact-number.js';

const VALUE = {
  orders: [
    { id: 7, customer: { name: 'Ada', 'e mail': 'ada@example.com' } },
    { id: 8, customer: { name: 'Bo' } },
  ],
  total: new ExactNumber('12345678901234567890'),
};
const JSON_CHOICE = withValue({ label: 'JSON', text: '{{ n.result.json }}' }, VALUE);
const GROUPS = [
  { heading: 'Start', choices: [{ label: 'City', text: '{{ input.city }}' }] },
  { heading: 'Call', choices: [JSON_CHOICE] },
];

const found = (typed: string) =>
  searchVariables(GROUPS, typed).flatMap(({ choices }) => choices.map(({ label, text }) => [label, text]));

describe('the tree of variables', () => {
  it('has parts of any depth, each a variable that reads it', () => {
    const step = (choice: typeof JSON_CHOICE, label: string) => partsOf(choice).find((part) => part.label === label)!;
    const customer = step(step(step(JSON_CHOICE, 'orders'), '[0]'), 'customer');
    assert.deepEqual(
      partsOf(customer).map(({ label, text, value }) => [label, text, value]),
      [
        ['name', '{{ n.result.json.orders[0].customer.name }}', 'Ada'],
        ['e mail', '{{ n.result.json.orders[0].customer["e mail"] }}', 'ada@example.com'],
      ],
    );
    assert.deepEqual(partsOf(step(JSON_CHOICE, 'total')), [], 'a number is no object');
    assert.equal(partsOf(step(JSON_CHOICE, 'orders'), 1, 2)[0]!.label, '[1]');
  });

  it('reads the parts of a text that is JSON beside the fields of the result', () => {
    const content = withValue({ label: 'Content', text: '{{ n.result.content }}' }, '{"a": 1}');
    const parts = partsOf({ ...content, parts: { a: 1 }, root: 'n.result' });
    assert.deepEqual(
      parts.map(({ text }) => text),
      ['{{ n.result.a }}'],
    );
  });
});

describe('the search in variables', () => {
  it('finds a path, a name and a value at any depth', () => {
    assert.deepEqual(found('orders[0].customer.name'), [
      ['JSON › orders[0].customer.name', '{{ n.result.json.orders[0].customer.name }}'],
    ]);
    assert.deepEqual(
      found('name').map(([, text]) => text),
      ['{{ n.result.json.orders[0].customer.name }}', '{{ n.result.json.orders[1].customer.name }}'],
    );
    assert.deepEqual(
      found('bo').map(([, text]) => text),
      ['{{ n.result.json.orders[1].customer.name }}'],
    );
    assert.deepEqual(
      found('call e mail').map(([, text]) => text),
      ['{{ n.result.json.orders[0].customer["e mail"] }}'],
    );
    assert.deepEqual(found('nowhere'), []);
  });

  it('finds a branch without all that is in it', () => {
    assert.deepEqual(
      found('orders').map(([, text]) => text),
      ['{{ n.result.json.orders }}'],
    );
    assert.deepEqual(
      found('json').map(([label]) => label),
      ['JSON'],
    );
  });

  it('stops in a large value, and never overflows in a deep one', () => {
    const wide = withValue(
      { label: 'W', text: '{{ n.result.w }}' },
      Array.from({ length: 10_000 }, () => 'same'),
    );
    const limited = searchVariables([{ heading: 'H', choices: [wide] }], 'same', { found: 5, seen: 10_000 });
    assert.equal(limited[0]!.choices.length, 5);
    let deep: unknown = 'end';
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
    const choice = { label: 'D', text: '{{ n.result.d }}', known: deep };
    assert.deepEqual(searchVariables([{ heading: 'H', choices: [choice] }], 'nothing', { found: 5, seen: 1_000 }), []);
  });
});
