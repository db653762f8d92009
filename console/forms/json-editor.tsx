import { json } from '@codemirror/lang-json';
import { SourceEditor, type SourceEditorProps } from './source-editor.js';

const JSON_TEXT = json();

export function JsonEditor(props: Omit<SourceEditorProps, 'language' | 'takesVariables'>) {
  return <SourceEditor {...props} language={JSON_TEXT} takesVariables />;
}
