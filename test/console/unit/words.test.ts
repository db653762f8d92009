import assert from 'node:assert/strict';
import type { Delta } from '../../../clients/typescript/src/index.js';
import { nodeKey } from '../../../console/live/live-run.js';
import {
  applyDeltas as applyAt,
  endClosedNodes,
  MOST_ARGUMENTS,
  MOST_NODES,
  MOST_TEXT,
  MOST_TOOL_CALLS,
  NO_WORDS,
  QUIET_MS,
  writingIn,
  type RunWords,
} from '../../../console/live/words.js';

const applyDeltas = (words: RunWords, deltas: Delta[]): RunWords => applyAt(words, deltas, 1_000);

const delta = (index: number, text: string, more: Partial<Delta> = {}): Delta => ({
  id: 'a',
  path: '',
  attempt: 1,
  step: 0,
  index,
  text,
  ...more,
});

const called = (index: number, args: string): Delta => {
  const { text: _, ...facts } = delta(index, '');
  return { ...facts, tool_call: { id: `call ${index}`, name: 'add', arguments: args } };
};

const joined = (...deltas: Delta[]): string | undefined => applyDeltas(NO_WORDS, deltas).get('a')?.text;

describe('what the models of a run write', () => {
  it('is joined by node and iteration, in whatever batches it comes, and leaves other nodes the same objects', () => {
    const paths = Array.from({ length: 10 }, (_, index) => `LOOP[${index}]`);
    const deltas = ['one ', 'two ', 'three'].flatMap((text, index) =>
      paths.map((path) => delta(index, text, { path })),
    );
    for (const size of [1, 7, deltas.length]) {
      let words = NO_WORDS;
      for (let from = 0; from < deltas.length; from += size)
        words = applyDeltas(words, deltas.slice(from, from + size));
      assert.deepEqual(
        paths.map((path) => words.get(nodeKey('a', path))?.text),
        paths.map(() => 'one two three'),
      );
      const after = applyDeltas(words, [delta(3, '!', { path: 'LOOP[3]' })]);
      assert.equal(after.get(nodeKey('a', 'LOOP[3]'))?.text, 'one two three!');
      assert.equal(after.get(nodeKey('a', 'LOOP[4]')), words.get(nodeKey('a', 'LOOP[4]')));
    }
  });

  it('begins anew with a later attempt, a later step, a reset, and the first delta of another connection', () => {
    assert.equal(joined(delta(0, 'one'), delta(0, 'anew', { attempt: 2, reset: true })), 'anew');
    assert.equal(joined(delta(0, 'one'), delta(0, 'step', { step: 1 }), delta(1, ' two', { step: 1 })), 'step two');
    assert.equal(joined(delta(0, 'on'), delta(1, 'e'), delta(2, 'whole', { reset: true }), delta(3, '!')), 'whole!');
    assert.equal(joined(delta(0, 'one'), delta(1, ' two'), delta(0, 'one two'), delta(1, ' three')), 'one two three');
  });

  it('has the tool calls of the last step beside its text', () => {
    const words = applyDeltas(NO_WORDS, [delta(0, 'I add.'), called(1, '{"a":1}'), called(2, '{"a":2}')]);
    assert.equal(words.get('a')?.text, 'I add.');
    assert.deepEqual(
      words.get('a')?.toolCalls.map((call) => call.arguments),
      ['{"a":1}', '{"a":2}'],
    );
    assert.deepEqual(applyDeltas(words, [delta(0, '3', { step: 1 })]).get('a')?.toolCalls, []);
  });

  it('keeps the end of a long text in whole characters, and bounds calls, arguments and nodes', () => {
    const long = applyDeltas(NO_WORDS, [delta(0, '😀'.repeat(MOST_TEXT / 2)), delta(1, 'end')]).get('a')!;
    assert.ok(long.isCut && long.text.length <= MOST_TEXT && long.text.length > MOST_TEXT - 4);
    assert.ok(long.text.startsWith('😀') && long.text.endsWith('😀end'));
    assert.equal(applyDeltas(NO_WORDS, [delta(0, 'x'.repeat(MOST_TEXT))]).get('a')?.isCut, false);
    const calls = Array.from({ length: 60 }, (_, index) => called(index, 'x'.repeat(MOST_ARGUMENTS + 1)));
    const { toolCalls } = applyDeltas(NO_WORDS, calls).get('a')!;
    assert.equal(toolCalls.length, MOST_TOOL_CALLS);
    assert.equal(toolCalls.at(-1)!.arguments, `${'x'.repeat(MOST_ARGUMENTS)}…`);
    const nodes = Array.from({ length: MOST_NODES + 5 }, (_, index) => delta(0, 'x', { path: `LOOP[${index}]` }));
    const many = applyDeltas(NO_WORDS, [...nodes, delta(1, 'y', { path: 'LOOP[5]' }), delta(0, 'x', { path: 'L[0]' })]);
    assert.equal(many.size, MOST_NODES);
    assert.equal(many.get(nodeKey('a', 'LOOP[5]'))?.text, 'xy');
  });

  it('forgets the nodes that have ended, and says which write', () => {
    const words = applyDeltas(NO_WORDS, [
      delta(0, 'x'),
      delta(0, 'y', { path: 'LOOP[0]' }),
      delta(0, 'z', { id: 'b' }),
    ]);
    const writing = writingIn(words, new Set(), 1_000);
    assert.deepEqual([...writing].toSorted(), ['a', 'b']);
    assert.equal(writingIn(words, writing, 1_000 + QUIET_MS - 1), writing);
    assert.deepEqual([...writingIn(words, writing, 1_000 + QUIET_MS)], []);
    assert.deepEqual([...writingIn(applyDeltas(words, [{ ...called(1, '{}'), id: 'b' }]), writing, 1_000)], ['a']);
    assert.equal(
      endClosedNodes(words, () => true),
      words,
    );
    assert.deepEqual([...endClosedNodes(words, (key) => key !== 'b').keys()], ['a', nodeKey('a', 'LOOP[0]')]);
  });
});
