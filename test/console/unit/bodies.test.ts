import assert from 'node:assert/strict';
import { allInside, bodiesOf, frameId, type Rect } from '../../../console/drawing/bodies.js';
import { CARD_WIDTH, cardHeight, flowNodes, withFrames, type CanvasNode } from '../../../console/drawing/flow-nodes.js';
import { copyNodes, pasteNodes } from '../../../console/drawing/clipboard.js';
import { byType, dataOf, nodesOf, positionOf, typeOf, type Drawing } from '../../../console/drawing/drawing.js';
import { EditorStore } from '../../../console/drawing/editor-store.js';
import { exitsOf } from '../../../console/drawing/links.js';
import { createFlowHandlers, STANDING } from '../../../console/drawing/use-flow.js';
import { tidyUp } from '../../../console/drawing/change-drawing.js';
import { variablesFor } from '../../../console/drawing/variables.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { enclosingLoops } from '../../../graph/plan.js';
import { drawing, edge, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);

function each(id: string, body: string | undefined, next: string[] = [], data: object = {}) {
  const links = { next_nodes: next, ...(body !== undefined && { body_node: body }) };
  return { id, type: 'for-each-node', data: { label: id, items: [1], ...links, ...data } };
}

/** A drawing of Start, `depth` loops in each other around one request, and a node after the outermost loop. */
function nested(depth: number): Drawing {
  const loops = Array.from({ length: depth }, (_, at) =>
    each(`loop${at}`, at + 1 < depth ? `loop${at + 1}` : 'call', at === 0 ? ['after'] : []),
  );
  return drawing([
    trigger('start', ['loop0']),
    ...loops,
    http('call', ['call2']),
    http('call2', []),
    http('after', []),
  ]);
}

const nodesFor = (drawn: Drawing, selected: readonly string[] = []): CanvasNode[] =>
  flowNodes({
    drawing: drawn,
    kinds,
    selection: { nodes: new Set(selected), links: new Set() },
    problems: [],
    moving: STANDING,
  });

function rectsOf(drawn: Drawing): Map<string, Rect> {
  return new Map(
    nodesFor(drawn).map(({ id, position, width = 0, height = 0 }) => [id, { ...position, width, height }]),
  );
}

const isInside = (inner: Rect, outer: Rect): boolean =>
  inner.x > outer.x &&
  inner.y > outer.y &&
  inner.x + inner.width < outer.x + outer.width &&
  inner.y + inner.height < outer.y + outer.height;

const isApart = (a: Rect, b: Rect): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

describe('the bodies of loops in the editor', () => {
  it('are those of a run, five deep', () => {
    const drawn = nested(5);
    const compiled = compilePlan(drawn);
    assert.ok(compiled.ok);
    const { plan } = compiled;
    const around = enclosingLoops(plan);
    const { loopOf } = bodiesOf(drawn, kinds);
    for (const [number, id] of plan.ids.entries()) {
      const inner = around[number]!.at(-1);
      assert.equal(loopOf.get(id), inner === undefined ? undefined : plan.ids[inner], id);
    }
    assert.deepEqual(allInside(bodiesOf(drawn, kinds), 'loop3'), ['loop4', 'call', 'call2']);
  });

  it('are there where edges alone draw the link, and not where it does not run', () => {
    const drawn = drawing(
      [trigger('start', ['loop']), each('loop', undefined), http('a', []), http('b', [])],
      [edge('loop', 'a', 'body')],
    );
    assert.deepEqual([...bodiesOf(drawn, kinds).members], [['loop', ['a']]]);
    const idle = drawing(
      [trigger('start', ['loop']), each('loop', 'b'), http('a', []), http('b', [])],
      [edge('loop', 'a', 'body')],
    );
    assert.deepEqual([...bodiesOf(idle, kinds).members], [['loop', ['b']]]);
  });

  it('keep their nodes when a loose end leads to one of them, and lose what the start leads to', () => {
    const loose = drawing([trigger('start', ['loop']), http('new', ['a']), each('loop', 'a'), http('a', [])]);
    assert.deepEqual([...bodiesOf(loose, kinds).members], [['loop', ['a']]]);
    const leak = drawing([trigger('start', ['loop', 'a']), each('loop', 'a'), http('a', [])]);
    assert.equal(bodiesOf(leak, kinds).members.size, 0);
  });

  it('are there before anything leads to the loop, and break at no circle', () => {
    const drawn = { nodes: [each('loop', 'a'), http('a', ['b']), http('b', ['a'])] };
    assert.deepEqual([...bodiesOf(drawn, kinds).members], [['loop', ['a', 'b']]]);
    assert.deepEqual([...bodiesOf({ nodes: [each('loop', 'loop')] }, kinds).members], []);
  });
});

describe('the frames of loops', () => {
  it('are around what is in the body, the frames of inner loops included, wherever the nodes stand', () => {
    const drawn = tidyUp(nested(5), kinds);
    const rects = rectsOf(drawn);
    for (let at = 0; at < 5; at += 1) {
      const frame = rects.get(frameId(`loop${at}`))!;
      for (const id of allInside(bodiesOf(drawn, kinds), `loop${at}`)) {
        assert.ok(isInside(rects.get(id)!, frame), `${id} in loop${at}`);
      }
      if (at < 4) assert.ok(isInside(rects.get(frameId(`loop${at + 1}`))!, frame));
      assert.ok(isApart(rects.get(`loop${at}`)!, frame), `loop${at} is outside its frame`);
    }
    assert.ok(isApart(rects.get('after')!, rects.get(frameId('loop0'))!));
  });

  it('stay the same objects, and so does every card, while nothing of them changes', () => {
    const drawn = nested(2);
    const [before, after] = [nodesFor(drawn), nodesFor(drawn, ['after'])];
    assert.deepEqual(
      after.filter((node, at) => node !== before[at]).map(({ id }) => id),
      ['after'],
    );
  });

  it('move what is in them as one step, with the mouse or a key', () => {
    const store = new EditorStore(tidyUp(nested(2), kinds), kinds, false);
    const before = rectsOf(store.drawing);
    const { onNodesChange } = createFlowHandlers(store, () => undefined);
    const { x, y } = before.get(frameId('loop0'))!;
    const change = { id: frameId('loop0'), type: 'position' as const };
    onNodesChange([{ ...change, position: { x: x + 30, y: y + 7 }, dragging: true }]);
    assert.equal(store.getState().history.past.length, 0);
    onNodesChange([{ ...change, position: { x: x + 100, y: y + 50 }, dragging: false }]);
    const after = rectsOf(store.drawing);
    for (const [id, rect] of before) {
      const isOutside = ['start', 'loop0', 'after'].includes(id);
      const expected = isOutside ? rect : { ...rect, x: rect.x + 100, y: rect.y + 50 };
      assert.deepEqual(after.get(id), expected, id);
    }
    onNodesChange([{ ...change, position: { x: x + 105, y: y + 50 } }]);
    onNodesChange([{ ...change, position: { x: x + 110, y: y + 50 } }]);
    assert.equal(rectsOf(store.drawing).get('call')!.x, before.get('call')!.x + 110);
    assert.equal(store.getState().history.past.length, 2);
    store.undo();
    store.undo();
    assert.deepEqual(rectsOf(store.drawing), before);
  });

  it('stand for what is in them where nodes are chosen', () => {
    const drawn = nested(2);
    assert.deepEqual(
      [...withFrames(drawn, kinds, new Set(['after', frameId('loop0'), 'gone']))],
      ['after', 'loop1', 'call', 'call2'],
    );
  });
});

describe('a drawing with loops', () => {
  it('is tidied so that no card stands on another, nor in a frame that is not its own', () => {
    const side = [http('a', ['b']), http('b', []), http('c', [])];
    const drawn = drawing([
      trigger('start', ['one', 'two', 'x']),
      each('one', 'a', ['x']),
      ...side,
      each('two', 'c', ['x']),
      http('x', ['y']),
      http('y', []),
    ]);
    const tidied = tidyUp(drawn, kinds);
    const rects = rectsOf(tidied);
    const { loopOf } = bodiesOf(tidied, kinds);
    const ids = [...nodesOf(tidied).keys()];
    for (const id of ids) {
      for (const other of ids) if (id < other) assert.ok(isApart(rects.get(id)!, rects.get(other)!), `${id} ${other}`);
      for (const loop of ['one', 'two']) {
        if (loopOf.get(id) !== loop) assert.ok(isApart(rects.get(id)!, rects.get(frameId(loop))!), `${id} ${loop}`);
      }
    }
    assert.ok(isApart(rects.get(frameId('one'))!, rects.get(frameId('two'))!));
    const [a] = [...nodesOf(tidied).values()].filter((node) => node.id === 'a');
    const height = cardHeight(exitsOf(kinds.get(typeOf(a!)), dataOf(a)));
    assert.deepEqual(rects.get('a'), { ...positionOf(a!), width: CARD_WIDTH, height });
  });

  it('is pasted with its frames, and what is in them reads the new loops', () => {
    const body = '{{ loop.item.name }} {{ loop.index }} {{ other.item }}';
    const drawn = drawing([trigger('start', ['loop']), each('loop', 'a'), http('a', [], { body })]);
    const copied = copyNodes(drawn, kinds, new Set(['loop', 'a']));
    const pasted = pasteNodes(drawn, kinds, copied, { x: 0, y: 300 })!;
    const [loop, a] = [...pasted.keys];
    assert.deepEqual(bodiesOf(pasted.drawing, kinds).members.get(loop!), [a]);
    assert.equal(
      dataOf(nodesOf(pasted.drawing).get(a!))['body'],
      `{{ ${loop}.item.name }} {{ ${loop}.index }} {{ other.item }}`,
    );
  });

  it('offers the variables of the loops around a node, and a loop those of its own body', () => {
    const drawn = nested(2);
    const texts = (id: string) =>
      variablesFor(drawn, kinds, id).flatMap(({ choices }) => choices.map(({ text }) => text));
    assert.deepEqual(texts('call'), ['{{ loop1.item }}', '{{ loop1.index }}', '{{ loop0.item }}', '{{ loop0.index }}']);
    assert.ok(texts('after').includes('{{ loop0.result.items }}'));
    assert.ok(!texts('after').some((text) => text.includes('call') || text.includes('.item }}')));
    assert.ok(texts('loop1').includes('{{ call2.result.content }}') && texts('loop1').includes('{{ loop1.item }}'));
  });
});
