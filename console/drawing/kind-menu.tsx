import { Dialog as Parts } from 'radix-ui';
import { createContext, useId, useMemo, useState, type KeyboardEvent } from 'react';
import '../ui/menu.css';
import { isStart, type Drawing, type NodeKind } from './drawing.js';
import { useStore } from './editor-store.js';
import { KindIcon } from './kind-icon.js';
import './kind-menu.css';
import { searchKinds } from './kind-search.js';

/** A place on the canvas for which a person chooses a kind. */
export interface AskedPlace {
  /** Window coordinates. */
  at: { x: number; y: number };
  add: (kind: NodeKind) => { drawing: Drawing; id: string };
}

/**
 * Cards and links call this to open the menu. The function never changes while the canvas is mounted, so it
 * causes no renders.
 */
export const AskContext = createContext<(place: AskedPlace) => void>(() => undefined);

const WIDTH = 300;
const HEIGHT = 380;

/** Menu of the kinds of nodes. Adding a node is one step of Undo. */
export function KindMenu({ place: { at, add }, onClose }: { place: AskedPlace; onClose: () => void }) {
  const store = useStore();
  const id = useId();
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(0);
  const kinds = useMemo(() => {
    const all = [...store.kinds.values()].filter((kind) => !isStart(kind));
    return search.trim() === '' ? all : searchKinds(all, search);
  }, [store.kinds, search]);
  const choose = (kind: NodeKind | undefined): void => {
    if (kind === undefined) return;
    onClose();
    const added = add(kind);
    store.change(added.drawing, { select: [added.id] });
  };
  const move = (event: KeyboardEvent, to: number): void => {
    event.preventDefault();
    const next = (to + kinds.length) % Math.max(kinds.length, 1);
    setActive(next);
    document.getElementById(`${id}${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') move(event, active + 1);
    else if (event.key === 'ArrowUp') move(event, active - 1);
    else if (event.key === 'Enter') {
      event.preventDefault();
      choose(kinds[active]);
    }
  };
  return (
    <Parts.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="kind-menu-ground" />
        <Parts.Content
          className="menu kind-menu"
          aria-describedby={undefined}
          style={{ left: within(at.x, innerWidth - WIDTH), top: within(at.y, innerHeight - HEIGHT) }}
        >
          <Parts.Title className="hidden-text">Insert node</Parts.Title>
          <input
            type="search"
            className="control"
            aria-label="Search nodes"
            aria-controls={id}
            aria-activedescendant={kinds.length === 0 ? undefined : `${id}${active}`}
            placeholder="Search nodes"
            value={search}
            onChange={({ target }) => {
              setSearch(target.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          {kinds.length === 0 ? (
            <p className="kind-menu-none">No kind of node matches.</p>
          ) : (
            <div className="kind-menu-list" role="menu" aria-label="Kinds of nodes" id={id}>
              {kinds.map((kind, index) => (
                <div
                  key={kind.type}
                  id={`${id}${index}`}
                  role="menuitem"
                  tabIndex={-1}
                  aria-label={kind.title}
                  className="menu-item kind-menu-item"
                  data-highlighted={index === active || undefined}
                  onPointerMove={() => setActive(index)}
                  onClick={() => choose(kind)}
                  onKeyDown={onKeyDown}
                >
                  <KindIcon type={kind.type} />
                  <span>
                    {kind.title}
                    {/* The hint is an attribute, so that the item's accessible name is the title alone. */}
                    <span className="kind-menu-hint" data-hint={kind.description} />
                  </span>
                </div>
              ))}
            </div>
          )}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

function within(place: number, most: number): number {
  return Math.max(8, Math.min(place, most - 8));
}
