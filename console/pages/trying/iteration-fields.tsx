import { useState, type ReactNode } from 'react';
import { bodiesOf } from '../../drawing/bodies.js';
import { labelOf, nodesOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { TextField } from '../../ui/fields.js';

interface IterationForm {
  /** The iteration in which the node is tried; undefined outside loops. */
  path: string | undefined;
  isValid: boolean;
  form: ReactNode;
}

/** Asks in which iteration a node in the body of a loop is tried: the first one, unless a person says another. */
export function useIteration(drawing: Drawing, kinds: NodeKinds, nodeId: string): IterationForm {
  const loops = loopsAround(drawing, kinds, nodeId);
  const [numbers, setNumbers] = useState<ReadonlyMap<string, string>>(new Map());
  const textOf = (loop: string): string => numbers.get(loop) ?? '0';
  const form = loops.map((loop, at) => (
    <TextField
      key={loop}
      type="number"
      label={at === loops.length - 1 ? 'Iteration' : `Iteration of ${labelOf(nodesOf(drawing).get(loop), kinds)}`}
      hint="The first one is 0."
      value={textOf(loop)}
      error={isIndex(textOf(loop)) ? undefined : 'This is no whole number from 0 on.'}
      onChange={(text) => setNumbers(new Map(numbers).set(loop, text))}
    />
  ));
  return {
    path: loops.length === 0 ? undefined : pathOf(loops.map((loop) => [loop, textOf(loop)])),
    isValid: loops.every((loop) => isIndex(textOf(loop))),
    form,
  };
}

/** Returns the loops in whose bodies a node is, the outermost first. */
export function loopsAround(drawing: Drawing, kinds: NodeKinds, nodeId: string): string[] {
  const { loopOf } = bodiesOf(drawing, kinds);
  const loops: string[] = [];
  for (let loop = loopOf.get(nodeId); loop !== undefined; loop = loopOf.get(loop)) loops.unshift(loop);
  return loops;
}

/** Returns the path of an iteration as the service writes it: `LOOP[3]/INNER[0]`, with the signs between ids encoded. */
export function pathOf(iterations: readonly (readonly [loop: string, index: string])[]): string {
  const encode = (id: string): string =>
    id.replace(/[%/[\]~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return iterations.map(([loop, index]) => `${encode(loop)}[${Number(index)}]`).join('/');
}

function isIndex(text: string): boolean {
  return /^\d{1,6}$/.test(text.trim());
}
