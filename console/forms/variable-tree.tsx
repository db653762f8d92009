import { useDeferredValue, useMemo, useState } from 'react';
import { keysOf, partsOf, searchVariables } from '../drawing/variable-tree.js';
import type { VariableChoice, VariableGroup } from '../drawing/variables.js';
import { Button } from '../ui/button.js';
import { WithCode } from '../ui/fields.js';
import './forms.css';

/** The limit on rendered groups. A search finds the others. */
const MAX_GROUPS = 40;
/** Number of parts of a value that are rendered at first, and that each click on `Show … more` adds. */
const STEP = 100;

interface VariableListProps {
  groups: readonly VariableGroup[];
  search: string;
  onChoose: (text: string) => void;
}

/** Lists the variables by node. A known value opens as a tree, and the search covers its parts. */
export function VariableList({ groups, search, onChoose }: VariableListProps) {
  const wanted = useDeferredValue(search.trim());
  const found = useMemo(() => searchVariables(groups, wanted), [groups, wanted]);
  return (
    <>
      {groups.length > 0 && found.length === 0 && <p>No variable matches.</p>}
      {found.slice(0, MAX_GROUPS).map(({ heading, origin, choices }, at) => (
        <section key={at} className="variables" aria-label={heading}>
          <h3>
            {heading} {origin !== undefined && <span className="variables-origin">{origin}</span>}
          </h3>
          <VariableTree choices={choices} isOpen={wanted === ''} onChoose={onChoose} />
        </section>
      ))}
      {found.length > MAX_GROUPS && <p>There are more: search for the node's label.</p>}
    </>
  );
}

interface VariableTreeProps {
  choices: readonly VariableChoice[];
  /** True to open `result.json`, such as the JSON of an HTTP answer, at first. */
  isOpen?: boolean;
  onChoose: (text: string) => void;
}

function VariableTree({ choices, isOpen = false, onChoose }: VariableTreeProps) {
  return (
    <ul className="variables-tree">
      {choices.map((choice) => (
        <Choice
          key={choice.text}
          choice={choice}
          isOpen={isOpen && choice.text.endsWith('.result.json }}')}
          onChoose={onChoose}
        />
      ))}
    </ul>
  );
}

interface ChoiceProps {
  choice: VariableChoice;
  /** True if the choice is open at first. */
  isOpen?: boolean;
  onChoose: (text: string) => void;
}

function Choice({ choice, isOpen: isOpenAtFirst = false, onChoose }: ChoiceProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const { label, text, hint, value } = choice;
  const hasParts = keysOf(choice).length > 0;
  return (
    <li className="variables-item">
      {hasParts && (
        <button
          type="button"
          className="variables-toggle"
          aria-expanded={isOpen}
          aria-label={`Parts of ${label}`}
          onClick={() => setIsOpen(!isOpen)}
        />
      )}
      <button
        type="button"
        className="variables-choice"
        title={text}
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData('text/plain', text);
          event.dataTransfer.effectAllowed = 'copy';
        }}
        onClick={() => onChoose(text)}
      >
        <span>{label}</span>
        {value === undefined ? (
          <span className="field-hint">
            <WithCode text={hint ?? ''} />
          </span>
        ) : (
          <span className="variables-value">{value}</span>
        )}
      </button>
      {hasParts && isOpen && <Parts choice={choice} onChoose={onChoose} />}
    </li>
  );
}

/** Rendered only while its choice is open, so that closed parts of a value are not read. */
function Parts({ choice, onChoose }: { choice: VariableChoice; onChoose: (text: string) => void }) {
  const [shown, setShown] = useState(STEP);
  const count = keysOf(choice).length;
  return (
    <ul className="variables-tree">
      {partsOf(choice, 0, shown).map((part) => (
        <Choice key={part.text} choice={part} onChoose={onChoose} />
      ))}
      {count > shown && (
        <li>
          <Button variant="quiet" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, count - shown)} more of {count}
          </Button>
        </li>
      )}
    </ul>
  );
}
