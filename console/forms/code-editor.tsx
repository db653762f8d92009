import { javascript } from '@codemirror/lang-javascript';
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorView, highlightActiveLine, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { SourceEditor, type SourceEditorProps } from './source-editor.js';

/** The style sheet has the colours, light and dark. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: 'source-keyword' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], class: 'source-text' },
  { tag: [tags.number, tags.bool, tags.null], class: 'source-value' },
  { tag: tags.comment, class: 'source-comment' },
]);

/**
 * Handles typing over selected text. The browser would keep the colour of the old text in a style, which the policy of
 * the page forbids.
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

/** Lines have numbers, because errors name them. */
const CODE = [
  javascript(),
  syntaxHighlighting(COLOURS),
  lineNumbers(),
  indentOnInput(),
  highlightActiveLine(),
  TYPED_OVER,
];

export function CodeEditor(props: Omit<SourceEditorProps, 'language' | 'takesVariables'>) {
  return <SourceEditor {...props} language={CODE} takesVariables={false} />;
}
