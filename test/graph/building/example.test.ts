import assert from 'node:assert/strict';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { applyChanges, EMPTY_DRAWING } from '../../../graph/building/apply-changes.js';
import { readChanges } from '../../../graph/building/changes-schema.js';
import { catalogue } from '../../../api/services/catalogue.js';
import { toFacts } from '../../../api/services/service-view.js';
import { withActions } from '../../../graph/actions/stored-actions.js';
import { actionExampleOf } from '../../../graph/building/action-example.js';
import { exampleOf } from '../../../graph/building/example.js';
import { toShortForm } from '../../../graph/building/short-form.js';
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

describe('the example of an action', () => {
  for (const service of catalogue) {
    it(`of ${service.name} is drawn by its changes, and passes the check`, () => {
      for (const action of service.actions) {
        const changes = actionExampleOf({ service: service.id, id: action.id }, toFacts(action));
        const named = applyChanges(EMPTY_DRAWING, readChanges(changes), ({ id }) => id === action.id);
        const drawing = withActions(named, [], () => toFacts(action));
        const { errors } = checkDrawing(drawing, {}, 365);
        assert.deepEqual(errors, [], action.id);
        assert.deepEqual(toShortForm(drawing).nodes[1]?.data['action'], { service: service.id, id: action.id });
      }
    });
  }

  it('is refused for an action that does not exist, and for a node that is no HTTP node', () => {
    const of = (add: object) => readChanges([{ add: { id: 'a', ...add } }]);
    const [none, mail] = [
      { service: 'none', id: 'x' },
      { service: 'gmail', id: 'x' },
    ];
    assert.throws(
      () => applyChanges(EMPTY_DRAWING, of({ action: none })),
      /There is no action "x" of a service "none"/,
    );
    assert.throws(
      () => applyChanges(EMPTY_DRAWING, of({ action: mail, kind: 'set-node' }), () => true),
      /An action makes a node of the kind "http-node"/,
    );
  });
});
