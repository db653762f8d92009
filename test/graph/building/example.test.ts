import assert from 'node:assert/strict';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { applyChanges, EMPTY_DRAWING } from '../../../graph/building/apply-changes.js';
import { readChanges } from '../../../graph/building/changes-schema.js';
import { exampleOf } from '../../../graph/building/example.js';
import { kinds, type NodeKind } from '../../../graph/kinds.js';

describe('the example of a kind', () => {
  for (const kind of Object.keys(kinds) as NodeKind[]) {
    it(`of ${kind} is drawn by its changes, and passes the check without a warning`, () => {
      const changes = exampleOf(kind, { model: 'a-model', workflowId: 7 });
      assert.ok(changes);
      const drawing = applyChanges(EMPTY_DRAWING, readChanges(changes));
      const { errors, warnings } = checkDrawing(drawing, {}, 365);
      assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] });
      assert.doesNotMatch(JSON.stringify(drawing), /MODEL|"workflow_id":0/);
    });
  }

  it('of a sub-workflow is none where the project has no workflow', () => {
    assert.equal(exampleOf('workflow', { model: 'a-model', workflowId: undefined }), undefined);
  });
});
