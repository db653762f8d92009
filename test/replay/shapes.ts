// Small drawings that several recordings have.
import { link, linkInRow, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';

/** A trigger and these, one after the other. */
export function inRow(...nodes: DrawingNode[]): DrawingNode[] {
  return linkInRow([trigger(), ...nodes]);
}

/** A trigger and these, side by side. */
export function sideBySide(...nodes: DrawingNode[]): DrawingNode[] {
  const start = trigger();
  link(start, nodes);
  return [start, ...nodes];
}
