import assert from 'node:assert/strict';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { followNames } from '../../../console/drawing/declared-names.js';
import { byType, dataOf, nodesOf, type Drawing, type NodeKind } from '../../../console/drawing/drawing.js';
import type { JsonObject } from '../../../graph/json.js';

const kinds = byType(describeNodes() as unknown as NodeKind[]);

function drawn(start: JsonObject, task: JsonObject, value: unknown, text: unknown): Drawing {
  const nodes = [
    { id: 'start', type: 'trigger-node', data: start },
    { id: 'task', type: 'human-node', data: task },
    { id: 'made', type: 'set-node', data: { value } },
    { id: 'reader', type: 'set-node', data: { value: text } },
  ];
  return { start_node: 'start', nodes };
}

const fieldsOf = (...ids: string[]) => ids.map((id) => ({ id, title: id }));
const read = (drawing: Drawing): unknown => dataOf(nodesOf(drawing).get('reader'))['value'];

describe('names that variables use', () => {
  const startOf = (...ids: string[]) => ({ input_fields: fieldsOf(...ids) });
  const taskOf = (...ids: string[]) => ({ fields: fieldsOf(...ids) });

  it('are renamed where they are used, and nothing else is', () => {
    const text = {
      a: 'x {{ input.city }} {{input["city"][0].name}} {{ input.cities }} {{ task.result.values.city }}',
      list: ['{{ start.result.city }}', 3],
    };
    const before = drawn(startOf('city', 'size'), taskOf('city'), 1, text);
    const after = drawn(startOf('the town', 'size'), taskOf('city'), 1, text);
    assert.deepEqual(read(followNames(before, after, kinds, 'start')), {
      a: 'x {{ input["the town"] }} {{ input["the town"][0].name }} {{ input.cities }} {{ task.result.values.city }}',
      list: ['{{ start.result["the town"] }}', 3],
    });
  });

  it('are those of tasks and of written values, too', () => {
    const text = '{{ task.result.values.city }} {{ input.city }} {{ made.result.value.a.b }} {{ made.result.a }}';
    const before = drawn(startOf('city'), taskOf('city'), { a: {}, c: 1 }, text);
    const task = followNames(before, drawn(startOf('city'), taskOf('town'), { a: {}, c: 1 }, text), kinds, 'task');
    assert.equal(
      read(task),
      '{{ task.result.values.town }} {{ input.city }} {{ made.result.value.a.b }} {{ made.result.a }}',
    );
    const made = followNames(before, drawn(startOf('city'), taskOf('city'), { z: {}, c: 1 }, text), kinds, 'made');
    assert.equal(
      read(made),
      '{{ task.result.values.city }} {{ input.city }} {{ made.result.value.z.b }} {{ made.result.z }}',
    );
  });

  it('are those of the start in variables of the input, whatever names another trigger has', () => {
    const text = '{{ input.city }} {{ other.result.city }}';
    const withOther = (id: string): Drawing => {
      const { nodes, ...rest } = drawn(startOf('city'), taskOf(), 1, text);
      return { ...rest, nodes: [...(nodes as []), { id: 'other', type: 'trigger-node', data: startOf(id) }] };
    };
    const renamed = followNames(withOther('city'), withOther('town'), kinds, 'other');
    assert.equal(read(renamed), '{{ input.city }} {{ other.result.town }}');
  });

  it('are followed from the beginning of the typing, through names that are empty or used twice', () => {
    const text = '{{ input.city }} {{ input.size }}';
    const before = drawn(startOf('city', 'size'), taskOf(), 1, text);
    let now = before;
    const names = [];
    for (const id of ['cit', '', 'size', 'sizes']) {
      const typed: Drawing = {
        ...now,
        nodes: [{ id: 'start', type: 'trigger-node', data: startOf(id, 'size') }, ...(now['nodes'] as []).slice(1)],
      };
      now = followNames(before, typed, kinds, 'start');
      names.push(read(now));
    }
    assert.deepEqual(names, ['{{ input.cit }} {{ input.size }}', text, text, '{{ input.sizes }} {{ input.size }}']);
  });

  it('stay where a field is added, removed or moved, and the drawing is the same object then', () => {
    const text = '{{ input.city }}';
    const before = drawn(startOf('city', 'size'), taskOf(), 1, text);
    for (const start of [startOf('city'), startOf('city', 'size', 'new'), startOf('size', 'city')]) {
      const after: Drawing = {
        ...before,
        nodes: [{ id: 'start', type: 'trigger-node', data: start }, ...(before['nodes'] as []).slice(1)],
      };
      assert.equal(followNames(before, after, kinds, 'start'), after);
    }
  });
});
