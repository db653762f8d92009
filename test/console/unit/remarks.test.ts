import assert from 'node:assert/strict';
import { removeNodes } from '../../../console/drawing/change-drawing.js';
import { byType, type Drawing } from '../../../console/drawing/drawing.js';
import { EditorStore } from '../../../console/drawing/editor-store.js';
import { remarkProblems, withoutRemark } from '../../../console/drawing/remarks.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { drawing, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const REMARKS = [
  { id: 'one', node_id: 'a', message: 'Fill it in.', fix: { field: 'connection' } },
  { id: 'two', node_id: 't', message: 'Make a schedule.', fix: { schedule: '0 9 * * *' } },
  { id: 'three', node_id: null, message: 'Rows was left out.' },
];
const imported = { ...drawing([trigger('t', ['a']), http('a')]), remarks: REMARKS } as unknown as Drawing;
const idsOf = (store: EditorStore) => store.getState().problems.map(({ remark, message }) => remark?.id ?? message);

describe('remarks of an import', () => {
  it('are warnings at their nodes and fields, each with what settles it', () => {
    const found = remarkProblems(imported).map(({ nodeId, path, severity, remark }) => [
      nodeId,
      path,
      severity,
      remark?.fix,
    ]);
    assert.deepEqual(found, [
      ['a', 'connection', 'warning', { field: 'connection' }],
      ['t', '', 'warning', { schedule: '0 9 * * *' }],
      [null, '', 'warning', undefined],
    ]);
  });

  it('are none of what is not in the form of remarks', () => {
    const odd = [null, 'x', {}, { id: 1, message: 'm' }, { id: 'a' }, { id: 'b', node_id: 'gone', message: 'm' }];
    for (const remarks of [undefined, {}, 'x', odd]) {
      assert.deepEqual(remarkProblems({ ...imported, remarks }), []);
    }
    const [odder] = remarkProblems({
      ...imported,
      remarks: [{ id: 'a', message: 'm', fix: { hook: 'yes' } }],
    });
    assert.equal(odder?.remark?.fix, undefined);
  });

  it('stand beside the problems that the service finds, and go when they are settled or their node is deleted', () => {
    const store = new EditorStore(imported, kinds, false);
    assert.deepEqual(idsOf(store), ['one', 'two', 'three']);
    store.setProblems([{ nodeId: 'a', path: 'url', message: 'found', severity: 'error' }]);
    assert.deepEqual(idsOf(store), ['found', 'one', 'two', 'three']);
    store.change(withoutRemark(store.drawing, 'two'));
    assert.deepEqual(idsOf(store), ['found', 'one', 'three']);
    store.change(removeNodes(store.drawing, kinds, new Set(['a'])));
    assert.deepEqual(idsOf(store), ['found', 'three']);
    store.undo();
    store.undo();
    assert.deepEqual(idsOf(store), ['found', 'one', 'two', 'three']);
    assert.deepEqual(store.getState().isDirty, false);
  });

  it('leave nothing behind when all are settled', () => {
    const settled = REMARKS.reduce<Drawing>((left, { id }) => withoutRemark(left, id), imported);
    assert.equal(Object.hasOwn(settled, 'remarks'), false);
  });
});
