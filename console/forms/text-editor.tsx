import { placeholder } from '@codemirror/view';
import { PLAIN, SourceEditor, type SourceEditorProps } from './source-editor.js';

const VALUE = [PLAIN, placeholder('Value')];

interface TextEditorProps extends Omit<SourceEditorProps, 'language' | 'takesVariables'> {
  /** True for the value in a table of names and values. */
  isValue: boolean;
}

/** Edits a text with variables as chips. */
export function TextEditor({ isValue, ...props }: TextEditorProps) {
  return <SourceEditor {...props} language={isValue ? VALUE : PLAIN} takesVariables />;
}
