import { placeholder } from '@codemirror/view';
import { PLAIN, PLAIN_IN_DIALOG, SourceEditor, type SourceEditorProps } from './source-editor.js';

const VALUE = [PLAIN, placeholder('Value')];

interface TextEditorProps extends Omit<SourceEditorProps, 'language' | 'takesVariables'> {
  /** True for the value in a table of names and values. */
  isValue: boolean;
  isInDialog?: boolean;
}

/** Edits a text with variables as chips. */
export function TextEditor({ isValue, isInDialog = false, ...props }: TextEditorProps) {
  const language = isInDialog ? PLAIN_IN_DIALOG : isValue ? VALUE : PLAIN;
  return <SourceEditor {...props} language={language} takesVariables />;
}
