import { useEffect, useEffectEvent, type RefObject } from 'react';
import type { EditorStore } from '../../drawing/editor-store.js';
import { removeSelection } from './remove-selection.js';
import { saveAndTell } from './save-and-tell.js';
import type { Saver } from './saver.js';

/** Ctrl+S, Ctrl+Z, Ctrl+Shift+Z (Ctrl+Y), Ctrl+Enter everywhere on the page; Delete while the graph has the focus. */
export function useShortcuts(
  store: EditorStore,
  saver: Saver,
  graph: RefObject<HTMLElement | null>,
  openRun: () => void,
): void {
  // Who may only look has no button Run either.
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
    // Before the fields: their own Undo knows nothing of what the form has written elsewhere.
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
        // The editor of JSON has an Undo of its own, letter by letter.
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

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

/** Where keys are about the graph: in it, on a button of the tools around it, or nowhere in particular. */
export function isInGraph(graph: HTMLElement | null, target: EventTarget | null): boolean {
  if (!(target instanceof Element) || isCodeField(target)) return false;
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) return false;
  if (target === document.body || target.id === 'main' || graph?.contains(target) === true) return true;
  return target.closest('.palette, .editor-toolbar') !== null;
}

function isCodeField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.isContentEditable;
}
