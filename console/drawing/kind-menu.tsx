import { createContext, useMemo, useState } from 'react';
import { FailedChoices } from '../service/problem.js';
import { useActions } from '../service/services.js';
import { kindOfAction, toDrawn, useProjectId } from './action-kind.js';
import { isStart, type Drawing, type NodeKind } from './drawing.js';
import { useStore } from './editor-store.js';
import { KindIcon } from './kind-icon.js';
import { searchKinds } from './kind-search.js';
import { PickMenu } from './pick-menu.js';
import { ServiceIcon } from './service-icon.js';

/** A place on the canvas for which a person chooses a kind. */
export interface AskedPlace {
  /** Window coordinates. */
  at: { x: number; y: number };
  /** True to offer also the kinds with which runs start, to which no link can lead. */
  hasStarts?: boolean;
  add: (kind: NodeKind) => { drawing: Drawing; id: string };
}

/**
 * Cards and links call this to open the menu. The function never changes while the canvas is mounted, so it
 * causes no renders.
 */
export const AskContext = createContext<(place: AskedPlace) => void>(() => undefined);

/** Prefix of the keys of actions. Types of nodes contain no spaces. */
const ACTION = 'action ';

const NAMES = { title: 'Insert node', search: 'Search nodes', list: 'Kinds of nodes' };

/**
 * Menu of the kinds of nodes and, once two letters are typed, of actions of services. Adding a node is one step of
 * Undo.
 */
export function KindMenu({
  place: { at, hasStarts = false, add },
  onClose,
}: {
  place: AskedPlace;
  onClose: () => void;
}) {
  const store = useStore();
  const [search, setSearch] = useState('');
  const { found: actions, isSearching, query } = useActions(useProjectId(), search);
  const kinds = useMemo(() => {
    const all = [...store.kinds.values()].filter((kind) => hasStarts || !isStart(kind));
    return search.trim() === '' ? all : searchKinds(all, search);
  }, [store.kinds, search, hasStarts]);
  const choices = [
    ...kinds.map(({ type, title, description }) => ({
      key: type,
      label: title,
      hint: description,
      icon: <KindIcon type={type} />,
    })),
    ...actions.map(({ service, action }, index) => ({
      key: `${ACTION}${index}`,
      label: `${service.name}: ${action.title}`,
      hint: action.description || `${action.method} ${action.path}`,
      icon: <ServiceIcon {...service} />,
    })),
  ];
  const choose = (key: string): void => {
    const action = key.startsWith(ACTION) ? actions[Number(key.slice(ACTION.length))] : undefined;
    const kind = action === undefined ? store.kinds.get(key) : kindOfAction(store.kinds, toDrawn(action));
    if (kind === undefined) return;
    const added = add(kind);
    store.change(added.drawing, { select: [added.id] });
  };
  return (
    <PickMenu
      {...{ names: NAMES, at, search, choices, onClose }}
      onSearch={setSearch}
      none={isSearching ? 'Searching the services…' : 'Nothing matches.'}
      onChoose={choose}
    >
      <FailedChoices noun="services" query={query} />
    </PickMenu>
  );
}
