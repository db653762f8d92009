// Loops for recordings.
import { http, link, linkInRow, node as nodeOf, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import type { World } from './scenario.js';

/** A loop inside another one, whose body makes calls, and then a loop without items. */
export function loopInLoop({ target }: World): DrawingNode[] {
  const call = http('', { label: 'call' });
  const inner = nodeOf('loop', { body_node: call.id, max_rounds: 3, output: '' });
  const outer = nodeOf('for_each', { body_node: inner.id, items: ['one', 'two', 'three'], concurrency: 2 });
  call.data['url'] = `${target.url}/{{ ${outer.id}.item }}/{{ ${inner.id}.index }}`;
  inner.data['output'] = `{{ ${inner.id}.last }}x`;
  inner.data['until'] = { left: `{{ ${inner.id}.last }}`, operator: '==', right: 'xx' };
  const empty = nodeOf('for_each', { items: [], output: 1 });
  link(outer, empty);
  return [...linkInRow([trigger(), outer]), empty, inner, call];
}

/** The first loop skips its failed items. The second one fails and stops its calls; its failure is caught. */
export function failingLoops({ target }: World): DrawingNode[] {
  const call = http('', { label: 'call' });
  const skips = nodeOf('for_each', {
    body_node: call.id,
    items: [200, 418, 200],
    on_item_error: 'skip',
    concurrency: 1,
  });
  call.data['url'] = `${target.url}/status/{{ ${skips.id}.item }}`;
  const [fails, after] = [http('', { label: 'fails' }), http('', { label: 'after' })];
  const paths = ['status/418', 'delay/60000/stopped', 'never'];
  const stops = nodeOf('for_each', { body_node: fails.id, items: paths, on_error: 'continue', concurrency: 2 });
  fails.data['url'] = `${target.url}/{{ ${stops.id}.item }}`;
  after.data['url'] = `${target.url}/after`;
  link(fails, after);
  link(skips, stops);
  return [...linkInRow([trigger(), skips]), stops, call, fails, after];
}

/** Each item of the outer loop has an inner loop, whose calls last until they are stopped. */
export function endlessLoops({ target }: World, path: string): DrawingNode[] {
  const call = http(`${target.url}/delay/60000/${path}`, { label: 'call' });
  const inner = nodeOf('for_each', { body_node: call.id, items: [1, 2], concurrency: 2 });
  const outer = nodeOf('for_each', { body_node: inner.id, items: ['a', 'b'], concurrency: 2 });
  return [...linkInRow([trigger(), outer]), inner, call];
}

/**
 * A node fails while the inner loop beside it still starts, which takes longer. The outer loop skips the item of both.
 */
export function loopBesideFailure(): DrawingNode[] {
  const [both, fails, leaf] = [nodeOf('set', { value: '' }), nodeOf('condition'), nodeOf('set', { value: '' })];
  const items = Array.from({ length: 1_000 }, (_, index) => index);
  const inner = nodeOf('for_each', { body_node: leaf.id, items, concurrency: 20 });
  const outer = nodeOf('for_each', { body_node: both.id, items: ['('], on_item_error: 'skip', output: 1 });
  fails.data['condition'] = { left: '', operator: 'matches', right: `{{ ${outer.id}.item }}` };
  link(both, [fails, inner]);
  return [...linkInRow([trigger(), outer]), both, fails, inner, leaf];
}

/** The failure of one item stops the inner loop of another one. */
export function stoppedLoops(world: World): DrawingNode[] {
  const nodes = endlessLoops(world, 'stopped-within');
  const [, outer, inner] = nodes as [DrawingNode, DrawingNode, DrawingNode];
  const [fails, choice] = [http(`${world.target.url}/delay/1500/fails`), nodeOf('condition')];
  world.target.on('/delay/1500/fails', { status: 418, delayMs: 1_500 });
  choice.data['condition'] = { left: `{{ ${outer.id}.item }}`, operator: '==', right: 'a' };
  choice.data.true_node = inner.id;
  choice.data.false_node = fails.id;
  outer.data['body_node'] = choice.id;
  outer.data['output'] = 1;
  return [...nodes, choice, fails];
}
