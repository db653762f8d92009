import assert from 'node:assert/strict';
import { alignChosen, duplicateChosen } from '../../../console/drawing/arrange.js';
import { addNode } from '../../../console/drawing/change-drawing.js';
import { byType, nodesOf, positionOf, type Drawing } from '../../../console/drawing/drawing.js';
import { insertOnLink } from '../../../console/drawing/insert.js';
import { searchKinds } from '../../../console/drawing/kind-search.js';
import { linksOf } from '../../../console/drawing/links.js';
import { addNote, changeNote, notesOf, removeNotes } from '../../../console/drawing/notes.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { MAX_NOTES, MAX_NOTE_CHARACTERS, tooManyNotes } from '../../../graph/notes.js';
import { drawing, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const note = (id: string, text = '') => ({ id, text, position: { x: 10, y: 20 }, width: 200, height: 100 });

describe('notes beside the nodes', () => {
  it('keep what the editor does not know of them, and of entries that are no notes', () => {
    const odd = [7, { text: 'no id' }, { ...note('n'), color: 'red' }];
    const drawn: Drawing = { ...drawing([trigger('a', [])]), notes: odd };
    assert.deepEqual([...notesOf(drawn).keys()], ['n']);
    const changed = changeNote(drawn, 'n', { text: 'new' });
    assert.deepEqual(changed['notes'], [odd[0], odd[1], { ...note('n', 'new'), color: 'red' }]);
    assert.equal(changeNote(drawn, 'n', { text: '' }), drawn);
    assert.deepEqual(removeNotes(drawn, new Set(['n']))['notes'], odd.slice(0, 2));
    assert.equal(removeNotes(drawn, new Set(['a'])), drawn);
  });

  it('change alone where others have the same id, which are not shown', () => {
    const drawn: Drawing = { notes: [note('n', 'shown'), note('n', 'hidden')] };
    assert.deepEqual(changeNote(drawn, 'n', { text: 'new' })['notes'], [note('n', 'new'), note('n', 'hidden')]);
    assert.deepEqual(removeNotes(drawn, new Set(['n']))['notes'], [note('n', 'hidden')]);
  });

  it('are copied with the nodes among them, and never more than a drawing may have', () => {
    const placed = { ...trigger('a', []), position: { x: 0, y: 0 } };
    const drawn: Drawing = { ...drawing([placed]), notes: [note('a', 'same id as a node')] };
    const copied = duplicateChosen(drawn, kinds, new Set(['a', '\u001Fnote a']))!;
    assert.equal(copied.keys.size, 2);
    assert.equal(nodesOf(copied.drawing).size, 2);
    const [, second] = [...notesOf(copied.drawing).values()];
    assert.deepEqual([second!['text'], second!['position']], ['same id as a node', { x: 50, y: 60 }]);
    const full = { ...drawn, notes: Array.from({ length: MAX_NOTES }, (_, at) => note(`n${at}`)) };
    assert.equal(addNote(full, { x: 0, y: 0 }), undefined);
    assert.equal(duplicateChosen(full, kinds, new Set(['\u001Fnote n1']))!.keys.size, 0);
  });

  it('are limited in number and length by the service', () => {
    assert.equal(tooManyNotes({ notes: Array.from({ length: MAX_NOTES }, () => note('n')) }), undefined);
    assert.match(tooManyNotes({ notes: Array.from({ length: MAX_NOTES + 1 }, () => 0) })!, /200 notes at most/);
    assert.equal(tooManyNotes({ notes: [note('n', '🙂'.repeat(MAX_NOTE_CHARACTERS))] }), undefined);
    assert.match(tooManyNotes({ notes: [note('n', 'a'.repeat(MAX_NOTE_CHARACTERS + 1))] })!, /10000 characters/);
    for (const notes of [undefined, null, 'text', {}, [null, 7, { text: 7 }]]) {
      assert.equal(tooManyNotes({ notes }), undefined);
    }
  });
});

describe('what is arranged and inserted', () => {
  it('stands in one line with what else is chosen', () => {
    const nodes = [
      { ...trigger('a', []), position: { x: 0, y: 0 } },
      { ...http('b'), position: { x: 300, y: 90 } },
    ];
    const drawn: Drawing = { ...drawing(nodes), notes: [note('n')] };
    const right = alignChosen(drawn, kinds, new Set(['a', 'b', '\u001Fnote n']), { axis: 'x', part: 1 });
    const places = [...nodesOf(right).values(), ...notesOf(right).values()].map((each) => positionOf(each).x);
    assert.deepEqual(places, [300, 300, 320]);
    assert.equal(alignChosen(drawn, kinds, new Set(['a']), { axis: 'x', part: 0 }), drawn);
  });

  it('takes the place of a link, also of a named exit', () => {
    let drawn: Drawing = drawing([trigger('a', ['b']), http('b')]);
    const [link] = linksOf(drawn, kinds);
    const added = insertOnLink(drawn, kinds, kinds.get('if-else-node')!, link!);
    drawn = added.drawing;
    const ends = linksOf(drawn, kinds).map(({ source, handle, target }) => [source, handle, target]);
    assert.deepEqual(ends, [
      ['a', null, added.id],
      [added.id, 'condition-true', 'b'],
    ]);
    const [, second] = linksOf(drawn, kinds);
    const inner = insertOnLink(drawn, kinds, kinds.get('http-node')!, second!);
    assert.equal(linksOf(inner.drawing, kinds).length, 3);
    assert.equal(nodesOf(addNode(drawn, kinds, kinds.get('set-node')!, { x: 0, y: 0 }).drawing).size, 4);
  });

  it('is found by all words that are typed, titles first', () => {
    const all = [...kinds.values()];
    assert.equal(searchKinds(all, 'HTTP')[0]!.title, 'HTTP request');
    assert.deepEqual(
      searchKinds(all, 'javascript sandbox').map(({ title }) => title),
      ['Code'],
    );
    assert.equal(searchKinds(all, '  ').length, all.length);
    assert.deepEqual(searchKinds(all, 'nothing at all like it'), []);
  });
});
