// A text field with variables. A plain textarea takes its place until the editor is loaded. The textarea stays if
// loading fails, or if an input method is composing a word when the editor is loaded.
import { use, useDeferredValue, useEffect, useEffectEvent, useRef, useState, type ComponentType } from 'react';
import { classNames } from '../ui/class-names.js';
import { FormContext } from './form.js';
import { Enlarge } from './large-editor.js';
import type { Attributes } from './source-editor.js';
import type { TextEditor } from './text-editor.js';

type Editor = typeof TextEditor extends (props: infer Props) => unknown ? ComponentType<Props> : never;

let loaded: Editor | undefined;

/** Pages with forms call this early, so that most fields start with the editor. */
export async function loadTextEditor(): Promise<Editor> {
  loaded = (await import('./text-editor.js')).TextEditor;
  return loaded;
}

interface VariableInputProps {
  attributes: Attributes;
  value: string;
  isLong?: boolean;
  /** Set to the name of the field if it can be edited in a large editor. */
  enlarged?: string | undefined;
  /** True for the value in a table of names and values. */
  isValue?: boolean;
  onChange: (value: string) => void;
}

export function VariableInput(props: VariableInputProps) {
  const { attributes, value, isLong = false, enlarged, isValue = false, onChange } = props;
  const { isReadOnly } = use(FormContext);
  const [EditorPart, setEditorPart] = useState(() => loaded);
  const field = useRef<HTMLTextAreaElement>(null);
  const [selected, setSelected] = useState<{ from: number; to: number }>();
  const isComposing = useRef(false);
  useEffect(() => {
    if (EditorPart !== undefined) return undefined;
    let isGone = false;
    const take = async (): Promise<void> => {
      const part = await loadTextEditor().catch(() => undefined);
      const { current } = field;
      // Replacing the field would lose a word that is being composed by an input method.
      if (isGone || part === undefined || isComposing.current) return;
      if (current !== null && document.activeElement === current) {
        setSelected({ from: current.selectionStart, to: current.selectionEnd });
      }
      setEditorPart(() => part);
    };
    void take();
    return () => {
      isGone = true;
    };
  }, [EditorPart]);
  const look = classNames('control', 'variable-input', isLong && 'variable-input-long');
  return (
    <div className="variable-field">
      {EditorPart === undefined ? (
        <textarea
          ref={field}
          className={classNames('control', 'form-text', isLong && 'form-text-long')}
          rows={isLong ? 4 : 1}
          data-variables
          spellCheck={isLong}
          placeholder={isValue ? 'Value' : undefined}
          value={value}
          onChange={({ target }) => onChange(target.value)}
          onCompositionStart={() => (isComposing.current = true)}
          onCompositionEnd={() => (isComposing.current = false)}
          {...attributes}
        />
      ) : (
        <div className={look} data-invalid={attributes['aria-invalid']} data-read-only={isReadOnly || undefined}>
          <EditorPart
            attributes={{ ...attributes, spellcheck: String(isLong) }}
            value={value}
            isReadOnly={isReadOnly}
            isValue={isValue}
            selected={selected}
            onChange={onChange}
          />
        </div>
      )}
      {enlarged !== undefined && EditorPart !== undefined && (
        <Enlarge
          label={enlarged}
          renderEditor={(named) => (
            <EditorPart
              attributes={{ ...named, spellcheck: 'true' }}
              value={value}
              isReadOnly={isReadOnly}
              isValue={false}
              isInDialog
              selected={undefined}
              onChange={onChange}
            />
          )}
        />
      )}
      <Preview value={value} />
    </div>
  );
}

/** Shows the value with the known values of its variables filled in. */
export function Preview({ value }: { value: unknown }) {
  const { variables } = use(FormContext);
  const shown = useDeferredValue(value);
  const holdsVariable = JSON.stringify(shown ?? '').includes('{{');
  // An effect event, because the page recreates `variables` on each render.
  const want = useEffectEvent(() => variables?.want());
  useEffect(() => {
    if (holdsVariable) want();
  }, [holdsVariable]);
  const text = holdsVariable ? variables?.preview(shown) : undefined;
  if (text === undefined) return null;
  return (
    <p className="field-hint variable-preview" aria-live="off">
      <span aria-hidden="true">= </span>
      <span className="hidden-text">For example: </span>
      {text === '' ? '(empty)' : text}
    </p>
  );
}
