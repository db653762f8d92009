import { useId, useState, type KeyboardEvent } from 'react';
import { Awaited } from '../../service/problem.js';
import { classNames } from '../../ui/class-names.js';
import { Note } from '../../ui/notices.js';
import { usePresets } from './connection-calls.js';
import type { ConnectionKind, Preset } from './connection-types.js';
import { CONNECTION_KINDS, KINDS } from './connection-fields.js';
import './connections.css';

interface Choice {
  id: string;
  name: string;
  /** The kind of the connection, or the credential that it sends. */
  detail: string;
  from: Preset | ConnectionKind;
}

interface ServiceSearchProps {
  onChoose: (from: Preset | ConnectionKind) => void;
}

/** Lists services to connect to, followed by the kinds of connections for any other service. */
export function ServiceSearch({ onChoose }: ServiceSearchProps) {
  const presets = usePresets();
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const services = (presets.data ?? []).map(ofPreset).filter((choice) => isMatch(choice, search));
  const kinds = CONNECTION_KINDS.map(ofKind);
  const found = kinds.filter((choice) => isMatch(choice, search));
  // If no kind matches the search, all kinds are offered, because each service can be connected by its kind.
  const others = found.length === 0 ? kinds : found;
  const choices = [...services, ...others];
  const active = choices[Math.min(at, choices.length - 1)];
  const move = (event: KeyboardEvent, to: number): void => {
    event.preventDefault();
    const next = Math.max(0, Math.min(to, choices.length - 1));
    setAt(next);
    const option = document.getElementById(optionId(listId, choices[next]));
    option?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') move(event, at + 1);
    else if (event.key === 'ArrowUp') move(event, at - 1);
    else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      onChoose(active.from);
    }
  };
  const group = (label: string, list: readonly Choice[]) => (
    <div role="group" aria-label={label}>
      <p className="service-group" role="presentation">
        {label}
      </p>
      {list.map((choice) => (
        <Option
          key={choice.id}
          id={optionId(listId, choice)}
          choice={choice}
          isActive={choice === active}
          onChoose={() => onChoose(choice.from)}
        />
      ))}
    </div>
  );
  return (
    <>
      <input
        type="search"
        className="control"
        aria-label="Search services"
        placeholder="Search services"
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : optionId(listId, active)}
        autoComplete="off"
        spellCheck={false}
        value={search}
        onChange={({ target }) => {
          setSearch(target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <Awaited {...presets} />
      {presets.data !== undefined && services.length === 0 && (
        <Note>No service of this name is known here. Make the connection by its kind.</Note>
      )}
      <div className="service-list" role="listbox" id={listId} aria-label="Services">
        {services.length > 0 && group('Services', services)}
        {group('Any other service', others)}
      </div>
    </>
  );
}

function ofPreset(preset: Preset): Choice {
  return { id: preset.id, name: preset.name, detail: KINDS[preset.kind].label, from: preset };
}

function ofKind(kind: ConnectionKind): Choice {
  return { id: `kind-${kind}`, name: KINDS[kind].label, detail: KINDS[kind].description, from: kind };
}

/** Each word must occur in the name. */
function isMatch({ name }: Choice, search: string): boolean {
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
    <div role="presentation" className={classNames('service-option', isActive && 'service-option-active')}>
      <button
        type="button"
        role="option"
        id={id}
        tabIndex={-1}
        className="service-name"
        aria-describedby={`${id}detail`}
        aria-selected={isActive}
        onPointerDown={(event) => event.preventDefault()}
        onClick={onChoose}
      >
        {name}
      </button>
      <span className="service-detail" id={`${id}detail`} aria-hidden="true">
        {detail}
      </span>
    </div>
  );
}
