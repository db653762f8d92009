import { useReactFlow, useStore as useFlowStore } from '@xyflow/react';
import { useEffect, useEffectEvent } from 'react';
import { loopOfFrame } from './bodies.js';
import { onlyNode, useEditor } from './editor-store.js';
import { moveIntoView } from './opening.js';

/**
 * Child of a `ReactFlow` that moves the chosen node into view when it is chosen, and when the size of the canvas
 * changes, for example because a panel has opened beside the canvas.
 */
export function KeepInView() {
  const flow = useReactFlow();
  const chosen = useEditor(({ selection }) => onlyNode(selection));
  const width = useFlowStore((state) => state.width);
  const height = useFlowStore((state) => state.height);
  const canvas = useFlowStore((state) => state.domNode);
  const show = useEffectEvent((only: string | undefined, size: { width: number; height: number }) => {
    // A frame may be larger than the canvas.
    const node = only === undefined || loopOfFrame(only) !== undefined ? undefined : flow.getInternalNode(only);
    if (node === undefined || canvas === null || size.width === 0) return;
    const { x, y } = node.internals.positionAbsolute;
    const box = { x, y, width: node.width ?? 0, height: node.height ?? 0 };
    const before = flow.getViewport();
    const after = moveIntoView(before, box, { ...size, height: uncovered(canvas, size.height) });
    // The default interpolation of React Flow would also zoom on the way, and leave that zoom if it is interrupted.
    if (after !== before) void flow.setViewport(after, { duration: 150, interpolate: 'linear' });
  });
  useEffect(() => {
    // By the next animation frame, the panel of the chosen node has opened.
    const frame = requestAnimationFrame(() => show(chosen, { width, height }));
    return () => cancelAnimationFrame(frame);
  }, [chosen, width, height]);
  return null;
}

/**
 * Returns the height of the canvas that no sheet covers. Narrow screens show the panel of a node as a sheet from below.
 */
function uncovered(canvas: HTMLElement, height: number): number {
  const sheet = document.querySelector('.node-pane:not([hidden])')?.getBoundingClientRect();
  const { left, right, top, bottom } = canvas.getBoundingClientRect();
  const isCovered = sheet !== undefined && sheet.left < right && sheet.right > left && sheet.top < bottom;
  return isCovered ? Math.max(sheet.top - top, 0) : height;
}
