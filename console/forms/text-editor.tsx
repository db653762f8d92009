import { placeholder } from '@codemirror/view';
import { PLAIN, SourceEditor, type SourceEditorProps } from './source-editor.js';

const VALUE = [PLAIN, placeholder('Value')];

interface TextEditorProps extends Omit<SourceEditorProps, 'language' | 'takesVariables'> {
  /** The value of a name, as in a table. */
  isValue: boolean;
}

/** A text whose variables are chips. */
export function TextEditor({ isValue, ...props }: TextEditorProps) {
  return <SourceEditor {...props} language={isValue ? VALUE : PLAIN} takesVariables />;
}
