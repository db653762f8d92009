import { javascript } from '@codemirror/lang-javascript';
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { highlightActiveLine, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { SOURCE, SourceEditor, type SourceEditorProps } from './source-editor.js';

/** Colours come from the style sheet, for light and dark mode. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: 'source-keyword' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], class: 'source-text' },
  { tag: [tags.number, tags.bool, tags.null], class: 'source-value' },
  { tag: tags.comment, class: 'source-comment' },
]);

/** Includes line numbers, because error messages refer to them. */
const CODE = [javascript(), syntaxHighlighting(COLOURS), lineNumbers(), indentOnInput(), highlightActiveLine(), SOURCE];

export function CodeEditor(props: Omit<SourceEditorProps, 'language' | 'takesVariables'>) {
  return <SourceEditor {...props} language={CODE} takesVariables={false} />;
}
