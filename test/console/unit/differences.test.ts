import assert from 'node:assert/strict';
import { differencesOf } from '../../../console/drawing/differences.js';
import { byType, type Drawing } from '../../../console/drawing/drawing.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import type { JsonObject } from '../../../graph/json.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const node = (id: string, type = 'set-node', data: JsonObject = {}) => ({ id, type, data: { label: id, ...data } });
const note = (id: string, text: string, x = 0) => ({ id, text, position: { x, y: 0 }, width: 200, height: 100 });
const drawn = (...nodes: JsonObject[]): Drawing => ({ start_node: 'a', nodes, edges: [] });
const between = (mine: Drawing, theirs: Drawing) =>
  differencesOf(mine, theirs, kinds).map(({ subject, mine: left, theirs: right }) => [subject, left, right]);

describe('the differences of two drawings', () => {
  const base = drawn(node('a', 'set-node', { value: '1', next_nodes: ['b'] }), node('b'));

  it('are those of nodes, fields and links', () => {
    const theirs = drawn(node('a', 'set-node', { value: '2', next_nodes: [] }), node('b'), node('c'));
    assert.deepEqual(between(base, theirs), [
      ['a: value', '1', '2'],
      ['c', undefined, 'the node'],
      ['Link a to b', 'the link', undefined],
    ]);
  });

  it('are those of the start, the settings and the types of nodes, too', () => {
    const theirs = {
      ...drawn(node('a', 'code-node', { value: '1', next_nodes: ['b'] }), node('b')),
      start_node: 'b',
      settings: { execution: 'dense' },
    };
    assert.deepEqual(between(base, theirs), [
      ['Start', 'a', 'b'],
      ['Workflow: settings', undefined, '{"execution":"dense"}'],
      ['a: type', kinds.get('set-node')!.title, kinds.get('code-node')!.title],
    ]);
    const settings = { ...base, settings: { execution: 'visible' } };
    assert.deepEqual(between(settings, { ...base, settings: theirs.settings }), [
      ['Workflow: settings › execution', 'visible', 'dense'],
    ]);
    const { start_node: _none, ...without } = base;
    assert.deepEqual(between(without, base), [['Start', undefined, 'a']]);
  });

  it('are those of notes by what they say', () => {
    const mine = { ...base, notes: [note('1', 'Ask Ada'), note('2', ''), note('3', 'same')] };
    const theirs = { ...base, notes: [note('1', 'Ask Grace'), note('3', 'same', 50)] };
    assert.deepEqual(between(mine, theirs), [
      ['Note', 'Ask Ada', 'Ask Grace'],
      ['Note', 'an empty note', undefined],
    ]);
  });

  it('are one in the layout where nothing else differs', () => {
    const looks = [['Layout and looks', 'as you have it', 'as they have it']];
    const [first, ...others] = base['nodes'] as JsonObject[];
    const moved = { ...base, nodes: [{ ...first, position: { x: 1, y: 2 } }, ...others] };
    assert.deepEqual(between(base, moved), looks);
    assert.deepEqual(between({ ...base, notes: [note('1', 'x')] }, { ...base, notes: [note('1', 'x', 9)] }), looks);
    assert.deepEqual(between({ ...moved, start_node: 'b' }, base), [['Start', 'b', 'a']]);
    assert.deepEqual(between(base, structuredClone(base)), []);
  });
});
