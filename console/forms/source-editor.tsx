// The CodeMirror editor, loaded with the first field that needs it.
import { defaultKeymap, history, historyKeymap, insertNewline } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { use, useEffect, useEffectEvent, useRef } from 'react';
import { styleNonce } from '../service/nonce.js';
import { FormContext } from './form.js';
import { variableChips } from './variable-chips.js';

export type Attributes = Readonly<Record<string, string>>;

export interface SourceEditorProps {
  /** Attributes of the textbox, such as its accessible name. */
  attributes: Attributes;
  value: string;
  isReadOnly: boolean;
  takesVariables: boolean;
  /**
   * The extensions for the kind of text, including `SOURCE` or `PLAIN`. Must be a stable object, because a new one
   * recreates the editor.
   */
  language: Extension;
  /** Initial selection. If set, the editor takes the focus. */
  selected?: { from: number; to: number } | undefined;
  onChange: (value: string) => void;
}

/** The extensions of editors for JSON and code, which have an Undo of their own. */
export const SOURCE: Extension = [
  history(),
  bracketMatching(),
  keymap.of([...historyKeymap, ...defaultKeymap].filter(({ key }) => key !== 'Mod-Enter')),
];

/** The extensions of editors for plain text. The drawing's history handles Undo, and new lines are not indented. */
export const PLAIN: Extension = [
  Prec.high(keymap.of([{ key: 'Enter', run: insertNewline }])),
  keymap.of(defaultKeymap.filter(({ key }) => key !== 'Mod-Enter')),
  EditorView.contentAttributes.of({ 'data-plain': '' }),
];

/** The same for dialogs, where the drawing's shortcuts do not work: these editors have an Undo of their own. */
export const PLAIN_IN_DIALOG: Extension = [history(), keymap.of(historyKeymap), PLAIN];

/**
 * Handles typing over a selection. The browser would copy the old text's colour into a style attribute, which the
 * page's Content-Security-Policy forbids.
 */
const TYPED_OVER = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== 'insertText' || data === null || isComposing || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type' });
    event.preventDefault();
    return true;
  },
});

/** An editor with the role of a textbox. Tab accepts an offered variable, or else leaves the editor. */
export function SourceEditor(props: SourceEditorProps) {
  const { attributes, value, isReadOnly, takesVariables, language, onChange } = props;
  const { variables } = use(FormContext);
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const ownAttributes = useRef(new Compartment());
  const report = useEffectEvent(onChange);
  const known = useEffectEvent(() => variables);
  const currentProps = useEffectEvent(() => props);
  useEffect(() => {
    if (parent.current === null) return undefined;
    const first = currentProps();
    const extensions = [
      takesVariables ? [variableChips(known), EditorView.contentAttributes.of({ 'data-variables': '' })] : [],
      language,
      TYPED_OVER,
      EditorView.lineWrapping,
      EditorView.cspNonce.of(styleNonce() ?? ''),
      ownAttributes.current.of(EditorView.contentAttributes.of(first.attributes)),
      EditorView.editable.of(!isReadOnly),
      EditorView.contentAttributes.of({ tabindex: '0', ...(isReadOnly && { 'aria-readonly': 'true' }) }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((each) => each.isUserEvent('outside'))) {
          report(update.state.doc.toString());
        }
      }),
    ];
    const state = EditorState.create({ doc: first.value, extensions });
    const made = new EditorView({ parent: parent.current, state });
    const { from, to } = first.selected ?? { from: state.doc.length, to: state.doc.length };
    made.dispatch({ selection: { anchor: Math.min(from, state.doc.length), head: Math.min(to, state.doc.length) } });
    if (first.selected !== undefined) made.focus();
    view.current = made;
    return () => made.destroy();
  }, [isReadOnly, takesVariables, language]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.eq(editor.state.toText(value))) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, userEvent: 'outside' });
  }, [value]);
  const written = JSON.stringify(attributes);
  useEffect(() => {
    const now = EditorView.contentAttributes.of(JSON.parse(written) as Attributes);
    view.current?.dispatch({ effects: ownAttributes.current.reconfigure(now) });
    // Clicking a label only focuses native form elements.
    const { 'aria-labelledby': labelledBy } = JSON.parse(written) as Attributes;
    const label = labelledBy === undefined ? null : document.getElementById(labelledBy);
    const focus = (): void => view.current?.focus();
    label?.addEventListener('click', focus);
    return () => label?.removeEventListener('click', focus);
  }, [written]);
  return <div className="source-editor" ref={parent} />;
}
