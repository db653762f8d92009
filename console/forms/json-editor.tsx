import { json } from '@codemirror/lang-json';
import { SOURCE, SourceEditor, type SourceEditorProps } from './source-editor.js';

const JSON_TEXT = [json(), SOURCE];

export function JsonEditor(props: Omit<SourceEditorProps, 'language' | 'takesVariables'>) {
  return <SourceEditor {...props} language={JSON_TEXT} takesVariables />;
}
