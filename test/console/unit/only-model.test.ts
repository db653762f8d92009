import assert from 'node:assert/strict';
import { addNode } from '../../../console/drawing/change-drawing.js';
import { byType, dataOf, nodesOf } from '../../../console/drawing/drawing.js';
import { withOnlyModel } from '../../../console/drawing/only-model.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';

const described = describeNodes() as Parameters<typeof byType>[0];

describe('new nodes that call a model', () => {
  for (const type of ['basic-node', 'agent-node']) {
    it(`begin with the only model: ${type}`, () => {
      const modelOf = (models: { id: string }[]): unknown => {
        const kinds = byType(withOnlyModel(described, models));
        const { drawing, id } = addNode({}, kinds, kinds.get(type)!, { x: 0, y: 0 });
        return (dataOf(nodesOf(drawing).get(id))['settings'] as Record<string, unknown>)['model_name'];
      };
      assert.equal(modelOf([{ id: 'one' }]), 'one');
      assert.equal(modelOf([{ id: 'one' }, { id: 'two' }]), '');
      assert.equal(modelOf([]), '');
    });
  }
});
