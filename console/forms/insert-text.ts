// Variables go to where the caret was last.
import { useEffect, useRef, type RefObject } from 'react';

const FIELDS = '[data-variables]';

/** Remembers which field of `form` that takes variables had the focus last; `onLeave` hears that a field is left. */
export function useLastField(form: RefObject<HTMLElement | null>, onLeave: () => void): () => HTMLElement | undefined {
  const last = useRef<HTMLElement>(undefined);
  useEffect(() => {
    const element = form.current;
    const remember = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && target.matches(FIELDS)) last.current = target;
    };
    element?.addEventListener('focusin', remember);
    element?.addEventListener('focusout', onLeave);
    return () => {
      element?.removeEventListener('focusin', remember);
      element?.removeEventListener('focusout', onLeave);
    };
  }, [form, onLeave]);
  return () => {
    if (last.current !== undefined && form.current?.contains(last.current) === true) return last.current;
    const fields = [...(form.current?.querySelectorAll<HTMLElement>(FIELDS) ?? [])];
    // An empty field that must be filled is what a person means, most likely.
    return fields.find((field) => field.matches(':required') && textOf(field) === '') ?? fields[0];
  };
}

/** In place of what is selected; the field tells of it as if the text had been typed. */
export function insertText(field: HTMLElement, text: string): void {
  field.focus();
  if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) {
    field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true, data: text, inputType: 'insertText' }));
  } else {
    // CodeMirror's field is the document's own editing; there is no other way that keeps its Undo.
    document.execCommand('insertText', false, text);
  }
}

function textOf(field: HTMLElement): string {
  return field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement
    ? field.value
    : (field.textContent ?? '');
}
