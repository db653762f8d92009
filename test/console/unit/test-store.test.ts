import assert from 'node:assert/strict';
import { setData } from '../../../console/drawing/change-drawing.js';
import { byType, dataOf, nodesOf, type Drawing } from '../../../console/drawing/drawing.js';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { startersOf } from '../../../console/drawing/starters.js';
import { startLiveRun, type NodeEntry } from '../../../console/live/live-run.js';
import { changedSince, isChanged } from '../../../console/pages/workflow/test-run/changed.js';
import { bodiesOf } from '../../../console/drawing/bodies.js';
import { loopsAround } from '../../../graph/loop-bodies.js';
import { pathOf } from '../../../console/pages/workflow/test-run/iterations.js';
import { TestStore } from '../../../console/pages/workflow/test-run/test-store.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { drawing, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const drawn = drawing([trigger('t', ['a']), http('a', ['b']), http('b')]) as Drawing;

const entry = (id: string, more: object = {}) => ({ id, status: 'succeed', ...more }) as NodeEntry;
const liveOf = (entries: NodeEntry[]) =>
  startLiveRun('in progress', Object.fromEntries(entries.map((each) => [`${each.path ?? ''}${each.id}`, each])));

function recorded(...runs: [runId: string, startedAt: string, entries: NodeEntry[]][]) {
  const store = new TestStore();
  for (const [runId, startedAt, entries] of runs) store.record({ runId, startedAt, drawing: drawn }, liveOf(entries));
  return Object.fromEntries([...store.getState().results].map(([id, { runId, status }]) => [id, `${runId} ${status}`]));
}

describe('what runs and tests say of the nodes', () => {
  it('is the newest result of each node, in whichever order the answers come', () => {
    const older: [string, string, NodeEntry[]] = ['one', '2026-01-01', [entry('a'), entry('b')]];
    const newer: [string, string, NodeEntry[]] = ['two', '2026-01-02', [entry('a', { status: 'failed' })]];
    const expected = { a: 'two failed', b: 'one succeeded' };
    assert.deepEqual(recorded(older, newer), expected);
    assert.deepEqual(recorded(newer, older), expected);
  });

  it('is not replaced by a reused result, and a reused pin is no result', () => {
    const taken = [entry('a', { reused: true, source: 'one' }), entry('b', { reused: true, source: 'pin' })];
    assert.deepEqual(recorded(['one', '1', [entry('a')]], ['two', '2', taken]), { a: 'one succeeded' });
  });

  it('is, for a node in a body, that of the iteration which needs most attention', () => {
    const inside = (index: number, more: object = {}) => entry('b', { path: `a[${index}]`, ...more });
    const store = new TestStore();
    const run = { runId: 'one', startedAt: '1', drawing: drawn };
    store.record(run, liveOf([inside(0), inside(1, { status: 'failed' }), inside(2, { status: 'failed' })]));
    const { entry: shown, status } = store.getState().results.get('b')!;
    assert.deepEqual([shown.path, status], ['a[1]', 'failed']);
  });

  it('changes nothing, and so renders nothing, where nothing is new', () => {
    const store = new TestStore();
    const live = liveOf([entry('a')]);
    store.record({ runId: 'one', startedAt: '1', drawing: drawn }, live);
    const { results } = store.getState();
    store.record({ runId: 'one', startedAt: '1', drawing: drawn }, live);
    assert.equal(store.getState().results, results);
  });

  it('is cleared when a run of the whole workflow begins, and an older run found later replaces nothing', () => {
    const store = new TestStore();
    store.record({ runId: 'one', startedAt: '2026-01-01', drawing: drawn }, liveOf([entry('a')]));
    store.startRun({ runId: 'two', drawing: drawn });
    assert.equal(store.getState().results.size, 0);
    store.record({ runId: 'two', startedAt: '2026-01-02', drawing: drawn }, liveOf([entry('a')]));
    store.find({ id: 'one', created_at: '2026-01-01' }, { id: 'test', created_at: '2026-01-01' });
    assert.equal(store.getState().run?.runId, 'two');
    assert.equal(store.getState().last, undefined);
    store.find({ id: 'two', created_at: '2026-01-02' }, { id: 'test', created_at: '2026-01-03' });
    assert.deepEqual([store.getState().run?.runId, store.getState().last?.runId], ['two', 'test']);
  });
});

describe('a node that has changed since it ran', () => {
  const withData = (id: string, more: object): Drawing =>
    setData(drawn, id, { ...dataOf(nodesOf(drawn).get(id)), ...more });

  it('is one whose kind or data differ, and no other: places and links do not count', () => {
    assert.equal(isChanged(drawn, structuredClone(drawn), 'a', kinds), false);
    assert.equal(isChanged(drawn, withData('a', { url: 'https://example.org' }), 'a', kinds), true);
    assert.equal(isChanged(drawn, withData('a', { url: 'https://example.org' }), 'b', kinds), false);
    assert.equal(isChanged(drawn, withData('a', { next_nodes: [] }), 'a', kinds), false);
    assert.equal(isChanged(drawn, withData('a', { on_error: 'branch', error_node: 'b' }), 'a', kinds), true);
    const moved = {
      ...drawn,
      nodes: [...nodesOf(drawn).values()].map((node) => ({ ...node, position: { x: 9, y: 9 } })),
    };
    assert.equal(isChanged(drawn, moved, 'a', kinds), false);
    assert.equal(isChanged(drawn, { nodes: [] }, 'a', kinds), true);
  });

  it('has no status, except while it still runs', () => {
    const store = new TestStore();
    const entries = [entry('a'), entry('b', { status: 'in progress' })];
    store.record({ runId: 'one', startedAt: '1', drawing: drawn }, liveOf(entries));
    const both = setData(withData('a', { url: 'x' }), 'b', { url: 'x' });
    assert.deepEqual(changedSince(store.getState().results, both, kinds), ['a']);
  });
});

describe('the iteration in which a node is tried', () => {
  it('is written as the service writes it', () => {
    for (const loop of ['LOOP', 'a/b[0]~%', 'ü']) {
      assert.equal(pathOf([[loop, '3']]), iterationPath('', loop, 3));
      const inner = iterationPath(iterationPath('', loop, 12), 'in', 0);
      assert.equal(
        pathOf([
          [loop, '12'],
          ['in', '00'],
        ]),
        inner,
      );
    }
  });

  it('is that of the loops around it, the outermost first', () => {
    const node = (id: string, type: string, data: object) => ({ id, type, position: { x: 0, y: 0 }, data });
    const nested = {
      start_node: 'outer',
      nodes: [
        node('outer', 'for-each-node', { body_node: 'inner' }),
        node('inner', 'for-each-node', { body_node: 'deep' }),
        node('deep', 'set-node', { next_nodes: [] }),
      ],
      edges: [],
    };
    assert.deepEqual(loopsAround(bodiesOf(nested, kinds), 'deep'), ['inner', 'outer']);
    assert.deepEqual(loopsAround(bodiesOf(nested, kinds), 'outer'), []);
  });
});

describe('the beginnings of an empty drawing', () => {
  it('need nothing from a person but an address or a model', () => {
    const missing = startersOf(kinds).map(({ name, make }) => {
      const begun = make({ nodes: [], edges: [] });
      assert.ok(nodesOf(begun.drawing).has(begun.chosen));
      return [name, checkDrawing(begun.drawing, {}, 30).errors.map(({ path }) => path)];
    });
    assert.deepEqual(missing, [
      ['HTTP request', ['url']],
      ['Ask a model', ['settings.model_name']],
      ['Chat', ['settings.model_name']],
      ['Loop over items', []],
    ]);
  });

  it('are not offered where the service lacks a kind', () => {
    const few = new Map([...kinds].filter(([type]) => type !== 'for-each-node'));
    assert.deepEqual(
      startersOf(few).map(({ name }) => name),
      ['HTTP request', 'Ask a model', 'Chat'],
    );
  });
});
