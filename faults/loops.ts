// Graphs with loops.
import { iterationPath } from '../graph/iteration-path.js';
import { drawing, http, link, llm, node, resultOf, type DrawingNode } from '../harness/drawing/drawing.js';
import type { ExpectedNode } from './evidence.js';
import {
  CALL_PRICE_USD,
  free,
  MODEL,
  modelKey,
  startPart,
  TAG,
  toExpected,
  type Outside,
  type Shape,
} from './shapes.js';

const ITEMS = ['first', 'second', 'third', 'fourth'];
const ROUNDS = 3;
const CODE = 'return inputs.tag + "/" + inputs.item;';

/** A paid call and code for each item of a list. The outputs must be in the order of the items. */
export function eachItem(): Shape {
  const each = node('for_each', { label: 'each', items: ITEMS, concurrency: 2 });
  const call = llm(`${TAG}/each-{{ ${each.id}.index }}`, { label: 'call', settings: { model_name: MODEL } });
  const work = node('code', { label: 'work', code: CODE, inputs: { tag: TAG, item: `{{ ${each.id}.item }}` } });
  const end = node('output', { label: 'end', value: resultOf(each, 'items') });
  each.data['body_node'] = call.id;
  link(call, work);
  return aroundLoop('each', [each, end], [call, work], (tag) => {
    const outputs = JSON.stringify(ITEMS.map((item) => `${tag}/${item}`));
    const inBody = ITEMS.flatMap((item, index) => {
      const name = `${tag}/each-${index}`;
      const calls = [{ key: modelKey(name, 0), mayRepeat: true }];
      return [
        inIteration(each, index, call, toExpected('llm', CALL_PRICE_USD, name, calls)),
        inIteration(each, index, work, free('code', `${tag}/${item}`)),
      ];
    });
    return [
      { ...named(each), ...free('for_each', outputs), iterations: ITEMS.length },
      ...inBody,
      { ...named(end), ...free('output', outputs) },
    ];
  });
}

/** A loop whose rounds make a call and set a value, then a switch on the number of rounds. */
export function rounds({ targetUrl }: Outside): Shape {
  const path = (tag: string, index: number | string): string => `/delay/200/${tag}/round-${index}`;
  const loop = node('loop', { label: 'rounds', max_rounds: 2 * ROUNDS });
  const index = `{{ ${loop.id}.index }}`;
  const call = http(targetUrl + path(TAG, index), { label: 'round' });
  const value = node('set', { label: 'value', value: `${TAG}/value-${index}` });
  const end = node('output', { label: 'end', value: resultOf(loop) });
  const never = node('output', { label: 'never', value: 'never' });
  const isThere = { left: `{{ ${loop.id}.result.rounds }}`, operator: '==', right: String(ROUNDS) };
  const choice = node('switch', {
    label: 'choice',
    cases: [{ id: 'there', condition: isThere, node: end.id }],
    default_node: never.id,
  });
  Object.assign(loop.data, { body_node: call.id, until: { left: index, operator: '==', right: String(ROUNDS - 1) } });
  link(call, value);
  return aroundLoop('rounds', [loop, choice], [call, value, end, never], (tag) => {
    const last = `${tag}/value-${ROUNDS - 1}`;
    const inBody = Array.from({ length: ROUNDS }, (_, round) => [
      inIteration(loop, round, call, toExpected('http', '0', tag, [{ key: path(tag, round), mayRepeat: true }])),
      inIteration(loop, round, value, free('set', `${tag}/value-${round}`)),
    ]);
    return [
      { ...named(loop), ...free('loop', last), iterations: ROUNDS },
      ...inBody.flat(),
      { ...named(choice), ...free('switch', 'there') },
      { ...named(end), ...free('output', last) },
    ];
  });
}

/** Makes a slow call for each of two items, one after the other. */
export function slowItems(outside: Outside): Shape {
  return items(outside, { name: 'slow items', count: 2, concurrency: 1, delayMs: 1_500 });
}

/** Waits and makes a call for each of three items, two at a time. */
export function sleepingItems(outside: Outside, seconds: number): Shape {
  return items(outside, { name: 'sleeping items', count: 3, concurrency: 2, delayMs: 100, seconds });
}

interface Items {
  name: string;
  count: number;
  concurrency: number;
  delayMs: number;
  /** The length of a wait before each call. */
  seconds?: number;
}

function items({ targetUrl }: Outside, { name, count, concurrency, delayMs, seconds }: Items): Shape {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const path = (tag: string, index: number | string): string => `/delay/${delayMs}/${tag}/item-${index}`;
  const each = node('for_each', { label: 'each', items: indexes, concurrency });
  const call = http(targetUrl + path(TAG, `{{ ${each.id}.index }}`), { label: 'call' });
  const sleeps = seconds === undefined ? [] : [node('wait', { label: 'sleep', seconds })];
  const body = [...sleeps, call];
  each.data['body_node'] = body[0]!.id;
  each.data['output'] = `${TAG}/{{ ${each.id}.item }}`;
  for (const sleep of sleeps) link(sleep, call);
  return aroundLoop(name, [each], body, (tag) => {
    const inBody = indexes.flatMap((index) => [
      ...sleeps.map((sleep) => inIteration(each, index, sleep, free('wait', ':'))),
      inIteration(each, index, call, toExpected('http', '0', tag, [{ key: path(tag, index), mayRepeat: true }])),
    ]);
    const outputs = JSON.stringify(indexes.map((index) => `${tag}/${index}`));
    return [{ ...named(each), ...free('for_each', outputs), iterations: count }, ...inBody];
  });
}

/** Links the nodes of `row` one after the other, after the trigger. */
function aroundLoop(
  name: string,
  row: DrawingNode[],
  others: DrawingNode[],
  expect: (tag: string) => ExpectedNode[],
): Shape {
  const start = startPart();
  for (const [index, each] of row.entries()) link(row[index - 1] ?? start.node, each);
  return {
    name,
    drawing: drawing([start.node, ...row, ...others]),
    expect: (tag) => [{ ...named(start.node), ...start.expect(tag) }, ...expect(tag)],
  };
}

function named({ id, data }: DrawingNode): Pick<ExpectedNode, 'id' | 'label'> {
  return { id, label: String(data['label']) };
}

function inIteration(
  loop: DrawingNode,
  index: number,
  inside: DrawingNode,
  expected: Omit<ExpectedNode, 'id' | 'label' | 'path'>,
): ExpectedNode {
  return { ...named(inside), path: iterationPath('', loop.id, index), ...expected };
}
