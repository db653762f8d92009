import { condition, drawing, link } from '../harness/drawing/drawing.js';
import { eachItem, rounds } from './loops.js';
import {
  ask,
  callTool,
  free,
  inRow,
  request,
  startPart,
  TAG,
  think,
  toShape,
  type Outside,
  type Shape,
} from './shapes.js';
import { family, waits, type ChildWorkflow } from './waits.js';

const PAUSE_SECONDS = 2;

/** Returns the graphs of the load. Each run uses the next one, and after the last one the first again. */
export function createLoadShapes(outside: Outside, child: ChildWorkflow): Shape[] {
  return [
    inRow(
      'chain',
      [150, 400, 250, 600].map((delayMs, index) => request(outside, `get-${index}`, delayMs)),
    ),
    diamond(outside),
    inRow('models', [ask('first'), ask('second')]),
    inRow('post', [
      request(outside, 'before', 200),
      request(outside, 'post', 500, 'POST'),
      request(outside, 'after', 200),
    ]),
    wide(outside),
    inRow('agent', [think(outside, 'agent', 'never'), callTool(outside, 'tool', 300)]),
    eachItem(),
    rounds(outside),
    waits(PAUSE_SECONDS),
    family(child),
  ];
}

function diamond(outside: Outside): Shape {
  const start = startPart();
  const [left, right] = [request(outside, 'left', 300), request(outside, 'right', 700)];
  const check = { node: condition(TAG, '!=', 'none', { label: 'check' }), expect: () => free('condition', 'true') };
  const [yes, no] = [request(outside, 'yes', 200), request(outside, 'no', 200)];
  const end = ask('end');
  link(start.node, [left.node, right.node]);
  link(left.node, check.node);
  link(check.node, yes.node, 'true');
  link(check.node, no.node, 'false');
  for (const before of [yes, no, right]) link(before.node, end.node);
  const nodes = [start, left, right, check, yes, no, end].map(({ node }) => node);
  return toShape('diamond', drawing(nodes), [start, left, right, check, yes, end]);
}

function wide(outside: Outside): Shape {
  const start = startPart();
  const branches = [100, 250, 400, 550, 700, 800].map((delayMs, index) => request(outside, `wide-${index}`, delayMs));
  const join = request(outside, 'join', 150);
  link(
    start.node,
    branches.map(({ node }) => node),
  );
  for (const { node } of branches) link(node, join.node);
  const all = [start, ...branches, join];
  return toShape('fan-out', drawing(all.map(({ node }) => node)), all);
}
