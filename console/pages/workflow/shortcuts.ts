import { useEffect, useEffectEvent, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { alignChosen, ALIGNMENTS, duplicateChosen, type Alignment } from '../../drawing/arrange.js';
import type { CanvasEvents } from '../../drawing/canvas.js';
import { disconnect, removeNodes } from '../../drawing/change-drawing.js';
import { copyNodes, pasteNodes } from '../../drawing/clipboard.js';
import { nodesOf } from '../../drawing/drawing.js';
import { onlyNode, type EditorStore } from '../../drawing/editor-store.js';
import { withFrames } from '../../drawing/flow-nodes.js';
import { linksOf } from '../../drawing/links.js';
import { chosenNotes, noteKey, notesOf, removeNotes } from '../../drawing/notes.js';
import { palettePane } from '../../drawing/palette.js';
import { unfold } from '../../drawing/side-pane.js';
import { announce } from '../../ui/notices.js';
import { isSearchKey, isWriting } from '../../ui/writing.js';
import { saveAndAnnounce, type Saver } from './saver.js';

/** Called for keys that open something over the canvas. */
export interface CanvasKeys extends Pick<CanvasEvents, 'onMenu'> {
  onFind: () => void;
  onRename: (nodeId: string) => void;
}

/**
 * Handles most keyboard shortcuts that the dialog `Keys` lists. Shortcuts for the selection only work while the graph
 * has the focus; Ctrl+D works wherever no field has the focus.
 */
export function useShortcuts(
  store: EditorStore,
  saver: Saver,
  graph: RefObject<HTMLElement | null>,
  onOpen: (dialog: 'run' | 'keys') => void,
  menus: CanvasKeys,
): void {
  // Viewers have no Run button either.
  const runUnlessReadOnly = (): void => (store.isReadOnly ? undefined : onOpen('run'));
  const act = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isDialogOpen()) return;
    // `console/app/layout.tsx` focuses the search field on this key, so the field must be visible first.
    if (isSearchKey(event)) flushSync(() => unfold(palettePane));
    const action = actionOf(event, isInGraph(graph.current, event.target));
    if (action === undefined) return;
    event.preventDefault();
    if (action === 'save') void saveAndAnnounce(store, saver);
    else if (action === 'run') {
      // Otherwise React Flow would deselect the node on Ctrl+Enter.
      event.stopPropagation();
      runUnlessReadOnly();
    } else if (action === 'remove') removeSelection(store);
    else if (action === 'duplicate') duplicateSelection(store);
    else if (action === 'keys') onOpen('keys');
    else if (action === 'find') menus.onFind();
    else if (action === 'all') selectAll(store);
    else if (action === 'rename') renameChosen(store, menus.onRename);
    else if (action === 'menu') openMenu(store, graph.current, menus.onMenu);
    else if (typeof action === 'string') store[action]();
    else alignSelection(store, action);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => act(event);
    // Listens in the capture phase, before the fields, because a field's own Undo lacks changes made elsewhere.
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, []);
}

type Action =
  | 'save'
  | 'run'
  | 'undo'
  | 'redo'
  | 'remove'
  | 'duplicate'
  | 'keys'
  | 'find'
  | 'all'
  | 'rename'
  | 'menu'
  | Alignment;

function actionOf(event: KeyboardEvent, isGraph: boolean): Action | undefined {
  if (event.ctrlKey || event.metaKey) {
    if (event.altKey) return undefined;
    switch (event.key.toLowerCase()) {
      case 's':
        return 'save';
      case 'a':
        return isGraph ? 'all' : undefined;
      case 'f':
        return isGraph ? 'find' : undefined;
      case 'd':
        return isWriting(event.target) ? undefined : 'duplicate';
      case 'enter':
        // With Shift, the key belongs to the button `Try`.
        return event.shiftKey ? undefined : 'run';
      case 'z':
        // Some fields have their own Undo, such as the editors of JSON and code.
        if (hasOwnUndo(event.target)) return undefined;
        return event.shiftKey ? 'redo' : 'undo';
      case 'y':
        return hasOwnUndo(event.target) ? undefined : 'redo';
      default:
        return undefined;
    }
  }
  if (!isGraph) return undefined;
  // Some keyboard layouts produce other letters with Alt, so this compares the key's position.
  if (event.altKey) return ALIGNMENTS.find(({ key }) => event.code === `Key${key}`);
  if (event.key === '?') return 'keys';
  if (event.key === 'F2') return 'rename';
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) return 'menu';
  return event.key === 'Delete' || event.key === 'Backspace' ? 'remove' : undefined;
}

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"]:not(.variables-panel), [role="alertdialog"], [role="menu"]') !== null;
}

/** True if keys are meant for the graph: the focus is in it, on a tool button, or on nothing in particular. */
function isInGraph(graph: HTMLElement | null, target: EventTarget | null): boolean {
  if (!(target instanceof Element) || isWriting(target)) return false;
  if (target === document.body || target.id === 'main' || graph?.contains(target) === true) return true;
  return target.closest('.palette, .editor-toolbar') !== null;
}

function isCodeField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.isContentEditable;
}

function hasOwnUndo(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('.side-chat') !== null) return true;
  // In the node's form, the graph and the palette, Undo is that of the drawing; in the palette, because Enter in its
  // search adds a node. Text in other fields, such as the answer to a human task, is not part of the drawing.
  if (target.closest('.node-form, .editor-graph, .palette') === null) {
    return isWriting(target) && target.tagName !== 'SELECT';
  }
  return isCodeField(target) && (target as HTMLElement).dataset['plain'] === undefined;
}

/** Offset in pixels of a paste from the copied nodes and from the previous paste. */
const STEP = 40;

/** Uses the system's clipboard, so that nodes can be pasted into other workflows or sent to somebody. */
export function useClipboard(
  store: EditorStore,
  graph: RefObject<HTMLElement | null>,
  /**
   * Called with a text that is no copy of nodes, and with any text if the editor is read-only. Returns true if it takes
   * the text.
   */
  takeText: (text: string) => boolean,
): void {
  const act = useEffectEvent((event: ClipboardEvent) => {
    if (isDialogOpen() || event.clipboardData === null || !isInGraph(graph.current, event.target)) return;
    if (event.type === 'paste') paste(store, event, event.clipboardData, takeText);
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
  const chosen = store.getState().selection.nodes;
  const words = describeChosen(store, chosen);
  const hasText = getSelection()?.isCollapsed === false;
  if (words === undefined || hasText) return;
  event.preventDefault();
  clipboard.setData('text/plain', copyNodes(store.drawing, store.kinds, chosen));
  if (event.type === 'cut') removeSelection(store);
  announce(`${words} copied`);
}

/** Returns text such as `2 nodes and 1 note`; undefined if nothing copyable is selected. */
export function describeChosen(store: EditorStore, chosen: ReadonlySet<string>): string | undefined {
  const nodes = withFrames(store.drawing, store.kinds, chosen).size;
  const notes = chosenNotes(store.drawing, chosen).size;
  const parts = [plural(nodes, 'node'), plural(notes, 'note')].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' and ');
}

export function plural(number: number, word: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}

let lastText = '';
let pastes = 0;

function paste(
  store: EditorStore,
  event: ClipboardEvent,
  clipboard: DataTransfer,
  takeText: (text: string) => boolean,
): void {
  const text = clipboard.getData('text/plain');
  pastes = text === lastText ? pastes + 1 : 1;
  lastText = text;
  const offset = { x: STEP * pastes, y: STEP * pastes };
  const pasted = store.isReadOnly ? undefined : pasteNodes(store.drawing, store.kinds, text, offset);
  if (pasted === undefined) {
    if (takeText(text)) event.preventDefault();
    return;
  }
  event.preventDefault();
  store.change(pasted.drawing, { select: pasted.keys });
  announce(`${describeChosen(store, pasted.keys) ?? 'Nothing'} pasted`);
}

/** Writes the chosen nodes and notes to the system's clipboard, which pages only have in a secure context. */
export async function copySelection(store: EditorStore): Promise<void> {
  const chosen = store.getState().selection.nodes;
  const words = describeChosen(store, chosen);
  if (words === undefined) return;
  try {
    await navigator.clipboard.writeText(copyNodes(store.drawing, store.kinds, chosen));
    announce(`${words} copied`);
  } catch {
    announce('The browser does not let this page copy: press Ctrl+C');
  }
}

export function selectAll(store: EditorStore): void {
  store.select([...nodesOf(store.drawing).keys(), ...[...notesOf(store.drawing).keys()].map(noteKey)]);
}

function renameChosen(store: EditorStore, onRename: (nodeId: string) => void): void {
  const only = onlyNode(store.getState().selection);
  if (!store.isReadOnly && only !== undefined && nodesOf(store.drawing).has(only)) onRename(only);
}

/** Opens the menu at the focused node or link, which is selected first; otherwise in the middle of the graph. */
function openMenu(store: EditorStore, graph: HTMLElement | null, onMenu: CanvasEvents['onMenu']): void {
  const part = document.activeElement?.closest<HTMLElement>('.react-flow__node, .react-flow__edge');
  const box = (part ?? graph)?.getBoundingClientRect();
  if (box === undefined) return;
  const id = part?.dataset['id'];
  const { nodes, links } = store.getState().selection;
  if (id !== undefined && !nodes.has(id) && !links.has(id)) {
    if (part?.classList.contains('react-flow__edge') === true) store.select([], [id]);
    else store.select([id]);
  }
  const { selection } = store.getState();
  const isChosen = selection.nodes.size + selection.links.size > 0;
  onMenu({ x: box.x + box.width / 2, y: box.y + box.height / 2 }, isChosen ? 'chosen' : 'ground');
}

/** Duplicates the selection beside itself as one step of Undo. */
export function duplicateSelection(store: EditorStore): void {
  const copied = duplicateChosen(store.drawing, store.kinds, store.getState().selection.nodes);
  if (copied === undefined || store.isReadOnly) return;
  store.change(copied.drawing, { select: copied.keys });
  announce(`${describeChosen(store, copied.keys) ?? 'Nothing'} duplicated`);
}

/** Aligns the selection as one step of Undo. */
export function alignSelection(store: EditorStore, alignment: Alignment): void {
  store.change(alignChosen(store.drawing, store.kinds, store.getState().selection.nodes, alignment));
}

/** Removes the selection as one step of Undo. */
export function removeSelection(store: EditorStore): void {
  const { selection } = store.getState();
  const links = linksOf(store.drawing, store.kinds).filter(({ id }) => selection.links.has(id));
  const nodes = withFrames(store.drawing, store.kinds, selection.nodes);
  const unlinked = links.length === 0 ? store.drawing : disconnect(store.drawing, store.kinds, links);
  const left = removeNodes(unlinked, store.kinds, nodes);
  store.change(removeNotes(left, chosenNotes(store.drawing, selection.nodes)), { select: [] });
}
