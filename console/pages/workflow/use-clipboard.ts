import { useEffect, useEffectEvent, type RefObject } from 'react';
import { copyNodes, pasteNodes } from '../../drawing/clipboard.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { withFrames } from '../../drawing/flow-nodes.js';
import { announce } from '../../ui/notices.js';
import { removeSelection } from './remove-selection.js';
import { isDialogOpen, isInGraph } from './use-shortcuts.js';

/** How far a pasted node is from where it was copied, and from the one that was pasted before. */
const STEP = 40;

/** Nodes through the system's clipboard, so that they can be pasted into another workflow, or sent to somebody. */
export function useClipboard(store: EditorStore, graph: RefObject<HTMLElement | null>): void {
  const act = useEffectEvent((event: ClipboardEvent) => {
    if (isDialogOpen() || event.clipboardData === null || !isInGraph(graph.current, event.target)) return;
    if (event.type === 'paste') paste(store, event, event.clipboardData);
    else copy(store, event, event.clipboardData);
  });
  useEffect(() => {
    const listen = (event: ClipboardEvent): void => act(event);
    const types = ['copy', 'cut', 'paste'] as const;
    for (const type of types) document.addEventListener(type, listen);
    return () => {
      for (const type of types) document.removeEventListener(type, listen);
    };
  }, []);
}

function copy(store: EditorStore, event: ClipboardEvent, clipboard: DataTransfer): void {
  const nodes = withFrames(store.drawing, store.kinds, store.getState().selection.nodes);
  const hasText = getSelection()?.isCollapsed === false;
  if (nodes.size === 0 || hasText) return;
  event.preventDefault();
  clipboard.setData('text/plain', copyNodes(store.drawing, store.kinds, nodes));
  if (event.type === 'cut') removeSelection(store);
  announce(`${nodes.size === 1 ? '1 node' : `${nodes.size} nodes`} copied`);
}

let lastText = '';
let pastes = 0;

function paste(store: EditorStore, event: ClipboardEvent, clipboard: DataTransfer): void {
  const text = clipboard.getData('text/plain');
  pastes = text === lastText ? pastes + 1 : 1;
  lastText = text;
  const offset = { x: STEP * pastes, y: STEP * pastes };
  const pasted = store.isReadOnly ? undefined : pasteNodes(store.drawing, store.kinds, text, offset);
  if (pasted === undefined) return;
  event.preventDefault();
  store.change(pasted.drawing, { select: pasted.ids });
  announce(`${pasted.ids.size === 1 ? '1 node' : `${pasted.ids.size} nodes`} pasted`);
}
