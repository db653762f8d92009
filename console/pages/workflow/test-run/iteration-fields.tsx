import { useState, type ReactNode } from 'react';
import { loopsAround } from '../../../../graph/loop-bodies.js';
import { bodiesOf } from '../../../drawing/bodies.js';
import { labelOf, nodesOf, type Drawing, type NodeKinds } from '../../../drawing/drawing.js';
import { TextField } from '../../../ui/fields.js';
import { pathOf } from './iterations.js';

interface IterationForm {
  /** Iteration in which the node is tested; undefined outside loops. */
  path: string | undefined;
  isValid: boolean;
  form: ReactNode;
}

/** Asks for the iteration in which to test a node inside loops. The first one is preselected. */
export function useIteration(drawing: Drawing, kinds: NodeKinds, nodeId: string): IterationForm {
  const loops = loopsAround(bodiesOf(drawing, kinds), nodeId).toReversed();
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

function isIndex(text: string): boolean {
  return /^\d{1,6}$/.test(text.trim());
}
