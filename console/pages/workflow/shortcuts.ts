import { useEffect, useEffectEvent, type RefObject } from 'react';
import { disconnect, removeNodes } from '../../drawing/change-drawing.js';
import { copyNodes, pasteNodes } from '../../drawing/clipboard.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { withFrames } from '../../drawing/flow-nodes.js';
import { linksOf } from '../../drawing/links.js';
import { announce } from '../../ui/notices.js';
import { saveAndTell, type Saver } from './saver.js';

/**
 * Ctrl+S, Ctrl+Z, Ctrl+Shift+Z (Ctrl+Y) and Ctrl+Enter work everywhere on the page, Delete while the graph has the
 * focus.
 */
export function useShortcuts(
  store: EditorStore,
  saver: Saver,
  graph: RefObject<HTMLElement | null>,
  openRun: () => void,
): void {
  // A person who may only look has no button Run either.
  const runUnlessReadOnly = (): void => (store.isReadOnly ? undefined : openRun());
  const act = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isDialogOpen()) return;
    const action = actionOf(event, isInGraph(graph.current, event.target));
    if (action === undefined) return;
    event.preventDefault();
    if (action === 'save') void saveAndTell(store, saver);
    else if (action === 'run') runUnlessReadOnly();
    else if (action === 'remove') removeSelection(store);
    else store[action]();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => act(event);
    // The listener comes before the fields, because their own Undo knows nothing of what the form has written
    // elsewhere.
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, []);
}

type Action = 'save' | 'run' | 'undo' | 'redo' | 'remove';

function actionOf(event: KeyboardEvent, isGraph: boolean): Action | undefined {
  if (event.ctrlKey || event.metaKey) {
    if (event.altKey) return undefined;
    switch (event.key.toLowerCase()) {
      case 's':
        return 'save';
      case 'enter':
        return 'run';
      case 'z':
        // The editors of JSON and code have an Undo of their own, letter by letter.
        if (isCodeField(event.target)) return undefined;
        return event.shiftKey ? 'redo' : 'undo';
      case 'y':
        return isCodeField(event.target) ? undefined : 'redo';
      default:
        return undefined;
    }
  }
  return isGraph && (event.key === 'Delete' || event.key === 'Backspace') ? 'remove' : undefined;
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

/**
 * Returns whether keys are meant for the graph: the focus is in it, on a button of the tools around it, or nowhere in
 * particular.
 */
function isInGraph(graph: HTMLElement | null, target: EventTarget | null): boolean {
  if (!(target instanceof Element) || isCodeField(target)) return false;
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) return false;
  if (target === document.body || target.id === 'main' || graph?.contains(target) === true) return true;
  return target.closest('.palette, .editor-toolbar') !== null;
}

function isCodeField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.isContentEditable;
}

/** The distance of a pasted node from the copied one, and from the one that was pasted before. */
const STEP = 40;

/**
 * Copies and pastes nodes by the system's clipboard, so that they can be pasted into another workflow, or sent to
 * somebody.
 */
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

/** Removes everything that is selected, as one step. */
export function removeSelection(store: EditorStore): void {
  const { selection } = store.getState();
  const links = linksOf(store.drawing, store.kinds).filter(({ id }) => selection.links.has(id));
  const nodes = withFrames(store.drawing, store.kinds, selection.nodes);
  const unlinked = links.length === 0 ? store.drawing : disconnect(store.drawing, store.kinds, links);
  store.change(removeNodes(unlinked, store.kinds, nodes), { select: [] });
}
