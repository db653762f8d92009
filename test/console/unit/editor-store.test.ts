import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { addNode, setData } from '../../../console/drawing/change-drawing.js';
import { byType, dataOf, nodesOf, type Drawing } from '../../../console/drawing/drawing.js';
import { EditorStore } from '../../../console/drawing/editor-store.js';
import { createFlowHandlers, flowEdges } from '../../../console/drawing/use-flow.js';
import { flowNodes } from '../../../console/drawing/flow-nodes.js';
import { addNote } from '../../../console/drawing/notes.js';
import { variablesFor } from '../../../console/drawing/variables.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { drawing, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const SAMPLES = path.resolve(import.meta.dirname, '../../../examples/graphs');
const label = (store: EditorStore) => dataOf(nodesOf(store.drawing).get('a'))['label'];
const write = (store: EditorStore, text: string, gesture?: string) => {
  const data = { ...dataOf(nodesOf(store.drawing).get('a')), label: text };
  store.change(setData(store.drawing, 'a', data), gesture === undefined ? {} : { gesture });
};

/** Opens a drawing as the page does: computes everything that is shown of it. */
function open(data: Drawing): EditorStore {
  const store = new EditorStore(data, kinds, false);
  const { selection } = store.getState();
  flowNodes({ drawing: data, kinds, selection, problems: [], moving: new Map() });
  flowEdges(data, kinds, selection.links, { byId: new Map(), all: [] });
  for (const id of nodesOf(data).keys()) variablesFor(data, kinds, id);
  return store;
}

function assertUntouched(data: Drawing): void {
  const text = JSON.stringify(data);
  const store = open(data);
  assert.equal(JSON.stringify(store.drawing), text);
  assert.equal(store.getState().isDirty, false);
  const id = [...nodesOf(data).keys()].find((each) => typeof dataOf(nodesOf(data).get(each))['label'] === 'string');
  if (id === undefined) return;
  const node = dataOf(nodesOf(data).get(id));
  store.change(setData(store.drawing, id, { ...node, label: 'Another label' }));
  const expected = JSON.parse(text) as { nodes: { id?: unknown; data?: { label?: string } }[] };
  expected.nodes.find((each) => each?.id === id)!.data!.label = 'Another label';
  assert.deepEqual(JSON.parse(JSON.stringify(store.drawing)), expected);
}

describe('what the editor keeps of a drawing', () => {
  for (const name of readdirSync(SAMPLES)) {
    it(`is everything that was not changed: ${name}`, () => {
      const { data } = JSON.parse(readFileSync(path.join(SAMPLES, name), 'utf8')) as { data: Drawing };
      assertUntouched(data);
    });
  }

  it('is everything that was not changed: 200 drawings of any shape', () => {
    const ids = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
    const types = fc.constantFrom(...kinds.keys(), 'unknown-node');
    const data = fc.dictionary(
      fc.constantFrom('id', 'label', 'next_nodes', 'true_node', 'input_fields', 'settings', 'condition', 'own'),
      fc.oneof(fc.jsonValue(), ids, fc.array(ids)),
    );
    const looks = { position: fc.jsonValue(), measured: fc.jsonValue(), selected: fc.boolean() };
    const node = fc.record({ id: ids, type: types, data, ...looks }, { requiredKeys: ['id'] });
    const edge = fc.record({
      id: fc.string(),
      source: ids,
      target: ids,
      sourceHandle: fc.string(),
      style: fc.jsonValue(),
    });
    const drawings = fc.record(
      {
        nodes: fc.oneof(fc.array(fc.oneof({ weight: 9, arbitrary: node }, fc.jsonValue())), fc.jsonValue()),
        edges: fc.oneof(fc.array(fc.oneof({ weight: 9, arbitrary: edge }, fc.jsonValue())), fc.jsonValue()),
        start_node: fc.oneof(ids, fc.jsonValue()),
        viewport: fc.jsonValue(),
        own: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(drawings, (each) => assertUntouched(JSON.parse(JSON.stringify(each)) as Drawing)),
      { numRuns: 200 },
    );
  });
});

describe('undo', () => {
  const store = () => new EditorStore(drawing([trigger('t', ['a']), http('a', [])]), kinds, false);

  it('takes one step for what is typed into one field, and one for each field that was left', () => {
    const typed = store();
    for (const text of ['F', 'Fe', 'Fet']) write(typed, text, 'a:label');
    typed.endGesture();
    write(typed, 'Fetch', 'a:label');
    typed.undo();
    assert.equal(label(typed), 'Fet');
    typed.undo();
    assert.equal(label(typed), undefined);
    assert.equal(typed.getState().isDirty, false);
    typed.redo();
    assert.equal(label(typed), 'Fet');
  });

  it('leaves nothing chosen that is gone, so that the next click chooses one thing', () => {
    const opened = new EditorStore(drawing([trigger('a', [])]), kinds, false);
    const added = addNode(opened.drawing, kinds, kinds.get('http-node')!, { x: 0, y: 0 });
    opened.change(added.drawing, { select: [added.id] });
    const noted = addNote(opened.drawing, { x: 0, y: 0 })!;
    opened.change(noted.drawing, { select: ['a', added.id, noted.key] });
    opened.undo();
    assert.deepEqual([...opened.getState().selection.nodes], ['a', added.id]);
    opened.undo();
    assert.deepEqual([...opened.getState().selection.nodes], ['a']);
    opened.redo();
    assert.deepEqual([...opened.getState().selection.nodes], ['a']);
  });

  it('forgets what was undone with the next change', () => {
    const changed = store();
    write(changed, 'one');
    changed.undo();
    write(changed, 'two');
    changed.redo();
    assert.equal(label(changed), 'two');
  });

  it('brings one’s own drawing back after the service’s was taken', () => {
    const mine = store();
    write(mine, 'mine');
    mine.takeOver(drawing([trigger('t', [])]));
    assert.equal(mine.getState().isDirty, false);
    mine.undo();
    assert.equal(label(mine), 'mine');
    assert.equal(mine.getState().isDirty, true);
  });
});

describe('an answer of the assistant', () => {
  const openSmall = () => new EditorStore(drawing([trigger('t', ['a']), http('a', [])]), kinds, false);
  const withMethod = (store: EditorStore, method: string): Drawing =>
    setData(store.drawing, 'a', { ...dataOf(nodesOf(store.drawing).get('a')), method });
  const partsOf = (store: EditorStore) => {
    const { label: text, method } = dataOf(nodesOf(store.drawing).get('a'));
    return [text, method];
  };

  it('is undone without what the person has changed between its parts and after them', () => {
    const store = openSmall();
    store.assist('run', withMethod(store, 'PUT'));
    write(store, 'between');
    store.change(addNote(store.drawing, { x: 0, y: 0 })!.drawing);
    store.assist('run', withMethod(store, 'POST'));
    const { notes } = store.drawing as { notes: unknown[] };
    store.change(setData(store.drawing, 't', { ...dataOf(nodesOf(store.drawing).get('t')), label: 'after' }));
    store.undoAnswer();
    assert.deepEqual(partsOf(store), ['between', undefined]);
    assert.deepEqual((store.drawing as { notes: unknown[] }).notes, notes);
    assert.equal(dataOf(nodesOf(store.drawing).get('t'))['label'], 'after');
    store.undo();
    assert.deepEqual(partsOf(store), ['between', 'POST']);
  });

  it('is forgotten once Undo has led to where it began, also past changes of the person', () => {
    const store = openSmall();
    const { drawing: begun } = store;
    store.assist('run', withMethod(store, 'PUT'));
    write(store, 'between');
    store.assist('run', withMethod(store, 'POST'));
    for (const expected of [
      ['between', 'PUT'],
      [undefined, 'PUT'],
    ]) {
      store.undo();
      assert.deepEqual(partsOf(store), expected);
      assert.ok(store.getState().answer);
    }
    store.undo();
    assert.equal(store.drawing, begun);
    assert.equal(store.getState().answer, undefined);
  });

  it('is one step of Undo, although the person selects nodes and leaves fields between its parts', () => {
    const store = openSmall();
    const { drawing: begun } = store;
    const flow = createFlowHandlers(store, () => {});
    store.assist('run', withMethod(store, 'PUT'));
    flow.onNodesChange([{ type: 'select', id: 'a', selected: true }]);
    store.assist('run', withMethod(store, 'POST'));
    store.endGesture();
    store.assist('run', withMethod(store, 'PATCH'));
    store.undo();
    assert.equal(store.drawing, begun);
    assert.deepEqual([...store.getState().selection.nodes], ['a']);
  });

  it('ends with the next one: what still comes of it then is a step of its own', () => {
    const store = openSmall();
    store.assist('run', withMethod(store, 'PUT'));
    store.forgetAnswer();
    store.assist('run', withMethod(store, 'POST'));
    store.undo();
    assert.deepEqual(partsOf(store), [undefined, 'PUT']);
  });
});

describe('saving', () => {
  it('leaves what was drawn meanwhile unsaved', () => {
    const store = new EditorStore(drawing([trigger('t', ['a']), http('a', [])]), kinds, false);
    write(store, 'sent');
    const sent = store.drawing;
    write(store, 'later');
    store.markSaved(sent, structuredClone(sent));
    assert.equal(label(store), 'later');
    assert.equal(store.getState().isDirty, true);
    store.markSaved(store.drawing, structuredClone(store.drawing));
    assert.equal(store.getState().isDirty, false);
  });

  it('is not needed for a change that was taken back by hand', () => {
    const store = new EditorStore(drawing([http('a', [], { label: 'as it was' })]), kinds, false);
    write(store, 'else');
    write(store, 'as it was');
    assert.equal(store.getState().isDirty, false);
  });

  it('is needed for a change that was taken back while a save was sending it', () => {
    const store = new EditorStore(drawing([http('a', [], { label: 'as it was' })]), kinds, false);
    write(store, 'else');
    const sent = store.drawing;
    store.markSending(sent);
    write(store, 'as it was');
    assert.equal(store.getState().isDirty, true);
    store.markSaved(sent, structuredClone(sent));
    assert.equal(label(store), 'as it was');
    assert.equal(store.getState().isDirty, true);
  });

  it('is not needed for a change that was taken back while a save failed to send it', () => {
    const store = new EditorStore(drawing([http('a', [], { label: 'as it was' })]), kinds, false);
    write(store, 'else');
    store.markSending(store.drawing);
    write(store, 'as it was');
    store.markSending(undefined);
    assert.equal(store.getState().isDirty, false);
  });

  it('is needed where the service has got another drawing meanwhile, although nothing was changed here', () => {
    const store = new EditorStore(drawing([http('a', [], { label: 'mine' })]), kinds, false);
    store.markStored(drawing([http('a', [], { label: 'theirs' })]));
    assert.equal(label(store), 'mine');
    assert.equal(store.getState().isDirty, true);
  });

  it('changes nothing for who may only look', () => {
    const store = new EditorStore(drawing([http('a', [])]), kinds, true);
    write(store, 'else');
    assert.equal(label(store), undefined);
  });

  it('marks problems of a new node once a person has left their field, and all of them after a save', () => {
    const data = drawing([trigger('t', ['a']), http('a')]) as Drawing;
    const store = new EditorStore(data, kinds, false);
    const added = addNode(store.drawing, kinds, kinds.get('http-node')!, { x: 0, y: 0 });
    store.change(added.drawing);
    const problem = (nodeId: string | null, field: string) => ({
      nodeId,
      path: field,
      message: 'x',
      severity: 'error' as const,
    });
    store.setProblems([problem('a', 'url'), problem(added.id, 'url'), problem(added.id, 'method'), problem(null, '')]);
    const marked = () =>
      store.getState().marked.map(({ nodeId, path: field }) => `${nodeId === added.id ? 'new' : nodeId} ${field}`);
    assert.deepEqual(marked(), ['a url', 'null ']);
    store.leaveField(added.id, 'url');
    assert.deepEqual(marked(), ['a url', 'new url', 'null ']);
    store.markSaved(store.drawing, store.drawing);
    assert.deepEqual(marked(), ['a url', 'new url', 'new method', 'null ']);
  });
});
