import { Dialog as Parts } from 'radix-ui';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import '../ui/menu.css';
import './kind-menu.css';

export interface Choice {
  key: string;
  label: string;
  /** Shown below the label, but not part of the item's accessible name. */
  hint: string;
  icon: ReactNode;
}

interface PickMenuProps {
  /** Accessible names of the dialog, its search field and its list. */
  names: { title: string; search: string; list: string };
  /** Window coordinates. */
  at: { x: number; y: number };
  search: string;
  onSearch: (text: string) => void;
  /** What matches the typed text, best first. */
  choices: readonly Choice[];
  /** Shown if nothing matches. */
  none: ReactNode;
  onChoose: (key: string) => void;
  onClose: () => void;
  /** Shown between the search field and the list. */
  children?: ReactNode;
}

const WIDTH = 300;
const HEIGHT = 380;

/** A list that a person searches by typing and chooses from by arrow keys and Enter, or by the pointer. */
export function PickMenu({ names, at, search, onSearch, choices, none, onChoose, onClose, children }: PickMenuProps) {
  const id = useId();
  const [active, setActive] = useState(0);
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    onChoose(choice.key);
  };
  const move = (event: KeyboardEvent, to: number): void => {
    event.preventDefault();
    const next = (to + choices.length) % Math.max(choices.length, 1);
    setActive(next);
    document.getElementById(`${id}${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // During a composition the keys choose among characters.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') move(event, active + 1);
    else if (event.key === 'ArrowUp') move(event, active - 1);
    else if (event.key === 'Enter') {
      event.preventDefault();
      choose(choices[active]);
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
          <Parts.Title className="hidden-text">{names.title}</Parts.Title>
          <input
            type="search"
            className="control"
            aria-label={names.search}
            aria-controls={id}
            aria-activedescendant={choices.length === 0 ? undefined : `${id}${active}`}
            placeholder={names.search}
            value={search}
            onChange={({ target }) => {
              onSearch(target.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          {children}
          {choices.length === 0 ? (
            <p className="kind-menu-none">{none}</p>
          ) : (
            <div className="kind-menu-list" role="menu" aria-label={names.list} id={id}>
              {choices.map((choice, index) => (
                <div
                  key={choice.key}
                  id={`${id}${index}`}
                  role="menuitem"
                  tabIndex={-1}
                  aria-label={choice.label}
                  className="menu-item kind-menu-item"
                  data-highlighted={index === active || undefined}
                  onPointerMove={() => setActive(index)}
                  onClick={() => choose(choice)}
                  onKeyDown={onKeyDown}
                >
                  {choice.icon}
                  <span>
                    {choice.label}
                    {/* The hint is an attribute, so that the item's accessible name is the label alone. */}
                    <span className="kind-menu-hint" data-hint={choice.hint} />
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
