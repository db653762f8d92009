import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { classNames } from './class-names.js';
import './search-list.css';

export interface Choice {
  /** Unique in the list. */
  id: string;
  name: string;
  /** One line about the choice. */
  detail: string;
}

interface ChoiceGroup<Each extends Choice> {
  label: string;
  choices: readonly Each[];
}

interface SearchListProps<Each extends Choice> {
  /** Accessible name of the search box: `Search services`. */
  label: string;
  /** Accessible name of the list: `Services`. */
  listLabel: string;
  search: string;
  onSearch: (search: string) => void;
  /** What the search has found. Groups without a choice are left out. */
  groups: readonly ChoiceGroup<Each>[];
  onChoose: (choice: Each) => void;
  /** Shown between the search box and the list. */
  children?: ReactNode;
}

/** A search box over a list in groups. The focus stays in the box; arrow keys move in the list and Enter chooses. */
export function SearchList<Each extends Choice>(props: SearchListProps<Each>) {
  const { label, listLabel, search, onSearch, groups, onChoose, children } = props;
  const [at, setAt] = useState(0);
  const listId = useId();
  const choices = groups.flatMap((group) => group.choices);
  const active = choices[Math.min(at, choices.length - 1)];
  const move = (event: KeyboardEvent, to: number): void => {
    event.preventDefault();
    const next = Math.max(0, Math.min(to, choices.length - 1));
    setAt(next);
    document.getElementById(optionId(listId, choices[next]))?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    // During a composition the keys choose among characters.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') move(event, at + 1);
    else if (event.key === 'ArrowUp') move(event, at - 1);
    else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      onChoose(active);
    }
  };
  return (
    <>
      <input
        type="search"
        className="control"
        aria-label={label}
        placeholder={label}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : optionId(listId, active)}
        autoComplete="off"
        spellCheck={false}
        value={search}
        onChange={({ target }) => {
          onSearch(target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      {children}
      <div className="search-list" role="listbox" id={listId} aria-label={listLabel}>
        {groups
          .filter((group) => group.choices.length > 0)
          .map((group) => (
            <div key={group.label} role="group" aria-label={group.label}>
              <p className="search-list-group" role="presentation">
                {group.label}
              </p>
              {group.choices.map((choice) => (
                <Option
                  key={choice.id}
                  id={optionId(listId, choice)}
                  choice={choice}
                  isActive={choice === active}
                  onChoose={() => onChoose(choice)}
                />
              ))}
            </div>
          ))}
      </div>
    </>
  );
}

/** True if each typed word occurs in the name. */
export function isFound({ name }: Choice, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => name.toLowerCase().includes(word));
}

function optionId(listId: string, choice: Choice | undefined): string {
  return `${listId}${choice?.id ?? ''}`;
}

interface OptionProps {
  id: string;
  choice: Choice;
  isActive: boolean;
  onChoose: () => void;
}

/** The focus stays in the search box, which refers to the active option. The button covers the whole row. */
function Option({ id, choice: { name, detail }, isActive, onChoose }: OptionProps) {
  return (
    <div role="presentation" className={classNames('search-option', isActive && 'search-option-active')}>
      <button
        type="button"
        role="option"
        id={id}
        tabIndex={-1}
        className="search-option-name"
        aria-describedby={`${id}detail`}
        aria-selected={isActive}
        onPointerDown={(event) => event.preventDefault()}
        onClick={onChoose}
      >
        {name}
      </button>
      <span className="search-option-detail" id={`${id}detail`} aria-hidden="true">
        {detail}
      </span>
    </div>
  );
}
