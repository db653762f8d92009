import { Popover } from 'radix-ui';
import { useEffect, useRef, useState, type RefObject } from 'react';
import type { VariableGroup } from '../drawing/variables.js';
import { Button } from '../ui/button.js';
import { SearchField } from '../ui/fields.js';
import { INSERT } from './form.js';
import { VariableList } from './variable-tree.js';
import './forms.css';

interface VariablePickerProps {
  groups: () => VariableGroup[];
  onChoose: (text: string) => void;
  onOpen?: () => void;
}

/** The button `Insert variable` opens a panel with the variables, from which they can also be dragged into fields. */
export function VariablePicker({ groups, onChoose, onOpen }: VariablePickerProps) {
  const [isOpen, setIsOpen] = useState(false);
  const hasInserted = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<Place>({ side: 'bottom', at: NOWHERE });
  return (
    <Popover.Root
      open={isOpen}
      onOpenChange={(willOpen) => {
        if (willOpen) {
          onOpen?.();
          setPlace(placeOf(button.current));
        }
        setIsOpen(willOpen);
      }}
    >
      <Popover.Trigger asChild>
        <Button ref={button}>Insert variable</Button>
      </Popover.Trigger>
      <Popover.Anchor virtualRef={{ current: place.at }} />
      <Popover.Portal>
        <Popover.Content
          className="variables-panel"
          aria-label="Variables"
          side={place.side}
          align="start"
          sideOffset={8}
          collisionPadding={8}
          onInteractOutside={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => {
            // After an insertion the focus stays in the field instead of returning to the button.
            if (hasInserted.current) event.preventDefault();
            hasInserted.current = false;
          }}
        >
          <Choices
            groups={groups()}
            onChoose={(text) => {
              onChoose(text);
              hasInserted.current = true;
              setIsOpen(false);
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface Place {
  side: 'left' | 'bottom';
  /** Element that anchors the panel. */
  at: Pick<Element, 'getBoundingClientRect'>;
}

const NOWHERE: Place['at'] = { getBoundingClientRect: () => new DOMRect() };
const WIDTH = 396;

/** Places the panel beside the form if there is space, so that the fields stay visible. */
function placeOf(button: HTMLElement | null): Place {
  const form = button?.closest('section');
  if (form && form.getBoundingClientRect().left > WIDTH) return { side: 'left', at: form };
  return { side: 'bottom', at: button ?? NOWHERE };
}

interface ChoicesProps {
  groups: VariableGroup[];
  onChoose: (text: string) => void;
}

function Choices({ groups, onChoose }: ChoicesProps) {
  const [search, setSearch] = useState('');
  return (
    <>
      <div className="variables-head">
        <SearchField label="Search variables" value={search} onChange={setSearch} />
        <Popover.Close asChild>
          <Button variant="quiet" aria-label="Close">
            <span aria-hidden="true">✕</span>
          </Button>
        </Popover.Close>
      </div>
      {groups.length === 0 && (
        <p>Nothing comes before this node yet. Link a trigger with input fields, or another node, to it.</p>
      )}
      <VariableList groups={groups} search={search} onChoose={onChoose} />
      {groups.length > 0 && <p className="field-hint">Click to insert, or drag into a field.</p>}
    </>
  );
}

// Inserts a variable at the last position of the caret.

const FIELDS = '[data-variables]';

/** Remembers the last focused field in `form` that accepts variables. Calls `onLeave` if a control loses the focus. */
export function useLastField(
  form: RefObject<HTMLElement | null>,
  onLeave: (control: HTMLElement) => void,
): () => HTMLElement | undefined {
  const last = useRef<HTMLElement>(undefined);
  useEffect(() => {
    const element = form.current;
    const remember = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && target.matches(FIELDS)) last.current = target;
    };
    const leave = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement) onLeave(target);
    };
    element?.addEventListener('focusin', remember);
    element?.addEventListener('focusout', leave);
    return () => {
      element?.removeEventListener('focusin', remember);
      element?.removeEventListener('focusout', leave);
    };
  }, [form, onLeave]);
  return () => {
    if (last.current !== undefined && form.current?.contains(last.current) === true) return last.current;
    const fields = [...(form.current?.querySelectorAll<HTMLElement>(FIELDS) ?? [])];
    // If no field had the focus, the person most likely means an empty required one.
    return (
      fields.find((field) => field.matches('[aria-required="true"], :required') && textOf(field) === '') ?? fields[0]
    );
  };
}

/** Replaces the selected text, as typing does. */
export function insertText(field: HTMLElement, text: string): void {
  if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) {
    field.focus();
    field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true, data: text, inputType: 'insertText' }));
  } else {
    field.dispatchEvent(new CustomEvent(INSERT, { detail: text }));
  }
}

function textOf(field: HTMLElement): string {
  return field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement
    ? field.value
    : (field.textContent ?? '');
}
