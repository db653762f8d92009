import { useReactFlow } from '@xyflow/react';
import { useMemo, useState } from 'react';
import type { CanvasEvents } from '../../drawing/canvas.js';
import { addNode, tidyUp } from '../../drawing/change-drawing.js';
import { nodesOf, startOf } from '../../drawing/drawing.js';
import { onlyNode, useStore, type EditorStore } from '../../drawing/editor-store.js';
import { FindNode } from '../../drawing/find-node.js';
import { KindMenu } from '../../drawing/kind-menu.js';
import { addNote } from '../../drawing/notes.js';
import { RenameField } from '../../drawing/rename-field.js';
import type { MenuAction } from '../../ui/menu.js';
import { announce } from '../../ui/notices.js';
import { PointMenu } from '../../ui/point-menu.js';
import { copySelection, duplicateSelection, removeSelection, selectAll, type CanvasKeys } from './shortcuts.js';

interface Point {
  x: number;
  y: number;
}

type Open =
  | { what: 'menu'; at: Point; on: 'chosen' | 'ground' }
  | { what: 'add'; at: Point }
  | { what: 'find' }
  | { what: 'rename'; nodeId: string };

interface CanvasMenus extends CanvasEvents, CanvasKeys {
  open: Open | undefined;
  /** Closes `open`, unless something else was opened in its place. */
  close: (open: Open) => void;
}

/** Returns the menu or field that is open over the canvas. The functions that open and close it never change. */
export function useCanvasMenus(): CanvasMenus {
  const [open, setOpen] = useState<Open>();
  const events = useMemo(
    () => ({
      close: (closed: Open) => setOpen((current) => (current === closed ? undefined : current)),
      onMenu: (at: Point, on: 'chosen' | 'ground') => setOpen({ what: 'menu', at, on }),
      onAdd: (at: Point) => setOpen({ what: 'add', at }),
      onFind: () => setOpen({ what: 'find' }),
      onRename: (nodeId: string) => setOpen({ what: 'rename', nodeId }),
    }),
    [],
  );
  return { ...events, open };
}

export function CanvasMenu({ menus }: { menus: CanvasMenus }) {
  const { open } = menus;
  const store = useStore();
  const flow = useReactFlow();
  if (open === undefined) return null;
  const close = (): void => menus.close(open);
  if (open.what === 'find') return <FindNode at={topOf(document.querySelector('.editor-graph'))} onClose={close} />;
  if (open.what === 'rename') return <RenameField key={open.nodeId} nodeId={open.nodeId} onClose={close} />;
  const { at } = open;
  const { x, y } = flow.screenToFlowPosition(at);
  const place = { x: Math.round(x), y: Math.round(y) };
  if (open.what === 'add') {
    const add: Parameters<typeof KindMenu>[0]['place']['add'] = (kind) =>
      addNode(store.drawing, store.kinds, kind, place);
    const hasStarts = !nodesOf(store.drawing).has(startOf(store.drawing) ?? '');
    return <KindMenu place={{ at, add, hasStarts }} onClose={close} />;
  }
  const actions = open.on === 'chosen' ? chosenActions(store, menus) : groundActions(store, menus, { at, place });
  const label = open.on === 'chosen' ? 'Chosen' : 'Canvas';
  return <PointMenu key={`${at.x},${at.y}`} label={label} at={at} items={actions} onClose={close} />;
}

function topOf(graph: Element | null): Point {
  const { left = 0, top = 0 } = graph?.getBoundingClientRect() ?? {};
  return { x: left + 48, y: top + 12 };
}

/** The actions of the chosen nodes, notes and links. */
function chosenActions(store: EditorStore, { onRename }: CanvasMenus): MenuAction[] {
  const { selection } = store.getState();
  const only = onlyNode(selection);
  const node = nodesOf(store.drawing).get(only ?? '');
  const hasNodes = selection.nodes.size > 0;
  const copy: MenuAction[] = hasNodes ? [{ label: 'Copy', onSelect: () => void copySelection(store) }] : [];
  if (store.isReadOnly) return copy;
  return [
    ...(node === undefined ? [] : [{ label: 'Rename', onSelect: () => onRename(node.id) }]),
    ...copy,
    ...(hasNodes ? [{ label: 'Duplicate', onSelect: () => duplicateSelection(store) }] : []),
    ...(node === undefined || startOf(store.drawing) === node.id
      ? []
      : [{ label: 'Begin here', onSelect: () => store.change({ ...store.drawing, start_node: node.id }) }]),
    { label: 'Delete', onSelect: () => removeSelection(store), isDangerous: true },
  ];
}

interface Ground {
  at: Point;
  /** The same point in coordinates of the canvas. */
  place: Point;
}

function groundActions(store: EditorStore, { onAdd, onFind }: CanvasMenus, { at, place }: Ground): MenuAction[] {
  const common: MenuAction[] = [
    { label: 'Find a node', onSelect: onFind },
    { label: 'Select all', onSelect: () => selectAll(store) },
  ];
  if (store.isReadOnly) return common;
  const note = (): void => {
    const added = addNote(store.drawing, place);
    if (added === undefined) announce('The drawing has all the notes that it may have');
    else store.change(added.drawing, { select: [added.key] });
  };
  return [
    { label: 'Add a node here', onSelect: () => onAdd(at) },
    { label: 'Add a note here', onSelect: note },
    ...common,
    { label: 'Tidy up', onSelect: () => store.change(tidyUp(store.drawing, store.kinds)) },
  ];
}
