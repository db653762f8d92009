// Graphs whose nodes wait for a time, for answers, or for other runs.
import { drawing, link, node, resultOf } from '../harness/drawing/drawing.js';
import { ask, free, inRow, startPart, TAG, toShape, type Part, type Shape } from './shapes.js';

/** A workflow of the project that nodes of other workflows start. */
export interface ChildWorkflow {
  id: number;
  shape: Shape;
}

/** A node that waits for a time. */
export function sleep(label: string, seconds: number): Part {
  // The result is a time, which contains a colon.
  return { node: node('wait', { label, seconds }), expect: () => free('wait', ':') };
}

/** A node that waits for a callback. */
export function callback(label: string): Part {
  const expect: Part['expect'] = (tag) => ({ ...free('wait', tag), answerOf: ({ content }) => content });
  return { node: node('wait', { label, mode: 'callback' }), expect };
}

/** A node that asks a person. */
export function person(label: string): Part {
  const expect: Part['expect'] = () => ({ ...free('human', 'done'), answerOf: ({ comment }) => comment });
  return { node: node('human', { label, message: `Well, ${TAG}?` }), expect };
}

/** Code that takes a while. */
export function slowCode(label: string): Part {
  const code = 'const until = Date.now() + 1500; while (Date.now() < until); return inputs.tag;';
  return { node: node('code', { label, code, inputs: { tag: TAG } }), expect: (tag) => free('code', tag) };
}

/** A node that runs a workflow of the project. */
export function subWorkflow(label: string, { id, shape }: ChildWorkflow): Part {
  return {
    node: node('workflow', { label, workflow_id: id, input: { tag: TAG } }),
    expect: (tag) => ({ ...free('workflow', tag), child: shape.expect(tag) }),
  };
}

/** Parallel waits for a time, a callback and a person, with `more` beside them, and a value after all of them. */
export function waits(seconds: number, ...more: Part[]): Shape {
  const start = startPart();
  const side = [sleep('pause', seconds), callback('callback'), person('person'), ...more];
  const [, called] = side;
  const join: Part = {
    node: node('set', { label: 'join', value: resultOf(called!.node) }),
    expect: (tag) => free('set', tag),
  };
  link(
    start.node,
    side.map((part) => part.node),
  );
  for (const part of side) link(part.node, join.node);
  const all = [start, ...side, join];
  return toShape('waits', drawing(all.map((part) => part.node)), all);
}

/** The workflow that a `family` runs: a paid call whose answer is the output. */
export function childShape(): Shape {
  const call = ask('child');
  return inRow('child', [call, output(resultOf(call.node))]);
}

export function family(child: ChildWorkflow): Shape {
  const run = subWorkflow('sub-workflow', child);
  return inRow('family', [run, output(resultOf(run.node, 'output'))]);
}

/** An output node. `value` must contain the tag. */
export function output(value: string): Part {
  return { node: node('output', { label: 'output', value }), expect: (tag) => free('output', tag) };
}
