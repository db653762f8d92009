// CodeMirror is loaded with the first field that needs it.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef } from 'react';
import { styleNonce } from '../app/nonce.js';

export interface SourceEditorProps {
  labelledBy: string;
  value: string;
  isReadOnly: boolean;
  /** Whether variables are inserted here. */
  takesVariables: boolean;
  /** The extension of the language. It must always be the same object. */
  language: Extension;
  onChange: (value: string) => void;
}

/** An editor that is a textbox. Tab leaves it, as it leaves every field of the form. */
export function SourceEditor(props: SourceEditorProps) {
  const { labelledBy, value, isReadOnly, takesVariables, language, onChange } = props;
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const tell = useEffectEvent(onChange);
  const begin = useEffectEvent(() => value);
  useEffect(() => {
    if (parent.current === null) return undefined;
    const extensions = [
      history(),
      bracketMatching(),
      language,
      keymap.of([...defaultKeymap, ...historyKeymap].filter(({ key }) => key !== 'Mod-Enter')),
      EditorView.lineWrapping,
      EditorView.cspNonce.of(styleNonce() ?? ''),
      EditorView.contentAttributes.of({
        'aria-labelledby': labelledBy,
        ...(takesVariables && { 'data-variables': '' }),
      }),
      EditorView.editable.of(!isReadOnly),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((each) => each.isUserEvent('outside'))) {
          tell(update.state.doc.toString());
        }
      }),
    ];
    const made = new EditorView({ parent: parent.current, state: EditorState.create({ doc: begin(), extensions }) });
    view.current = made;
    return () => made.destroy();
  }, [labelledBy, isReadOnly, takesVariables, language]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, userEvent: 'outside' });
  }, [value]);
  return <div className="source-editor" ref={parent} />;
}
