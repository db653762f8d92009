import { createContext } from 'react';
import { isStart, type Drawing, type NodeKind } from './drawing.js';
import { useStore } from './editor-store.js';
import { KindIcon } from './kind-icon.js';
import { searchKinds } from './kind-search.js';
import { PickMenu, type Choice } from './pick-menu.js';

/** A place on the canvas for which a person chooses a kind. */
export interface AskedPlace {
  /** Window coordinates. */
  at: { x: number; y: number };
  /** True if kinds are offered that nothing leads to. */
  hasStarts?: boolean;
  add: (kind: NodeKind) => { drawing: Drawing; id: string };
}

/**
 * Cards and links call this to open the menu. The function never changes while the canvas is mounted, so it
 * causes no renders.
 */
export const AskContext = createContext<(place: AskedPlace) => void>(() => undefined);

const NAMES = { title: 'Insert node', search: 'Search nodes', list: 'Kinds of nodes' };

/** Menu of the kinds of nodes. Adding a node is one step of Undo. */
export function KindMenu({
  place: { at, hasStarts = false, add },
  onClose,
}: {
  place: AskedPlace;
  onClose: () => void;
}) {
  const store = useStore();
  const find = (text: string): Choice[] => {
    const all = [...store.kinds.values()].filter((kind) => hasStarts || !isStart(kind));
    const found = text.trim() === '' ? all : searchKinds(all, text);
    return found.map(({ type, title, description }) => ({
      key: type,
      label: title,
      hint: description,
      icon: <KindIcon type={type} />,
    }));
  };
  const choose = (type: string): void => {
    const kind = store.kinds.get(type);
    if (kind === undefined) return;
    const added = add(kind);
    store.change(added.drawing, { select: [added.id] });
  };
  return <PickMenu {...{ names: NAMES, at, find, onClose }} none="No kind of node matches." onChoose={choose} />;
}
