// Variables in a CodeMirror editor: chips instead of `{{ ... }}`, and completions after `{{`. The document keeps the
// source, so that copying, searching and the drawing see it.
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { EditorState, Prec, StateField, type Extension, type Range } from '@codemirror/state';
import { Decoration, dropCursor, EditorView, keymap, WidgetType, type DecorationSet } from '@codemirror/view';
import { spansOf } from '../../graph/template.js';
import type { Chip } from '../drawing/chips.js';
import { completionsFor, openVariable } from './completions.js';
import { INSERT, type KnownVariables } from './form.js';

class ChipWidget extends WidgetType {
  readonly chip: Chip;
  readonly source: string;

  constructor(chip: Chip, source: string) {
    super();
    this.chip = chip;
    this.source = source;
  }

  override eq(other: ChipWidget): boolean {
    return other.source === this.source && other.chip.label === this.chip.label;
  }

  override toDOM(): HTMLElement {
    const chip = document.createElement('span');
    chip.className = this.chip.isKnown ? 'variable-chip' : 'variable-chip variable-chip-unknown';
    chip.textContent = this.chip.label;
    chip.title = this.chip.isKnown ? this.source : `${this.source}: nothing in this workflow has this name.`;
    return chip;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

interface Shown {
  all: DecorationSet;
  /** Only the chips, which the caret skips as a unit. */
  chips: DecorationSet;
}

const SOURCE = Decoration.mark({ class: 'variable-source' });

/** The variable around the caret shows its source for editing. */
function show(state: EditorState, chipOf: KnownVariables['chipOf']): Shown {
  const { from, to } = state.selection.main;
  const chips: Range<Decoration>[] = [];
  const sources: Range<Decoration>[] = [];
  for (const { start, end, expression } of spansOf(state.doc.toString())) {
    if (from > start && to < end) sources.push(SOURCE.range(start, end));
    else {
      const widget = new ChipWidget(chipOf(expression), state.sliceDoc(start, end));
      chips.push(Decoration.replace({ widget }).range(start, end));
    }
  }
  return { all: Decoration.set([...chips, ...sources], true), chips: Decoration.set(chips) };
}

/** `known` is a function, because other nodes may change while the form is open. */
export function variableChips(known: () => KnownVariables | undefined): Extension {
  const chipOf = (expression: string): Chip =>
    known()?.chipOf(expression) ?? { label: expression.trim(), isKnown: true };
  const shown = StateField.define<Shown>({
    create: (state) => show(state, chipOf),
    update: (value, { docChanged, selection, state }) =>
      docChanged || selection !== undefined ? show(state, chipOf) : value,
    provide: (field) => [
      EditorView.decorations.from(field, ({ all }) => all),
      EditorView.atomicRanges.of((view) => view.state.field(field).chips),
    ],
  });
  return [
    shown,
    dropCursor(),
    EditorState.phrases.of({ Completions: 'Variables' }),
    autocompletion({
      override: [(context) => complete(context, known)],
      icons: false,
      activateOnTypingDelay: 0,
      interactionDelay: 0,
      optionClass: () => 'variable-option',
    }),
    Prec.high(
      keymap.of([
        { key: 'Tab', run: acceptCompletion },
        { key: 'F2', run: openBesideCaret },
      ]),
    ),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        const { target } = event;
        const isChip = target instanceof HTMLElement && target.classList.contains('variable-chip');
        if (!isChip || event.button !== 0 || event.detail > 1 || !view.state.facet(EditorView.editable)) return false;
        const chip = isOpened(view, view.posAtDOM(target));
        if (chip) event.preventDefault();
        return chip;
      },
      [INSERT](event: Event, view: EditorView) {
        const text = String((event as CustomEvent<unknown>).detail);
        // An untouched JSON value is `""`; the variable replaces it.
        const isUntouched = view.state.doc.toString().trim() === '""';
        const { from, to } = isUntouched ? { from: 0, to: view.state.doc.length } : view.state.selection.main;
        const insert = { changes: { from, to, insert: text }, selection: { anchor: from + text.length } };
        view.dispatch({ ...insert, userEvent: 'input', scrollIntoView: true });
        view.focus();
        return true;
      },
    }),
  ];
}

/** Shows the source of the variable at a position and moves the caret to its end. False if there is no variable. */
function isOpened(view: EditorView, at: number): boolean {
  for (const { start, end } of spansOf(view.state.doc.toString())) {
    if (at < start || at > end) continue;
    view.focus();
    // Places the caret before a blank that precedes the closing braces.
    const caret = start + view.state.sliceDoc(start, end - 2).trimEnd().length;
    view.dispatch({ selection: { anchor: Math.max(caret, start + 2) } });
    return true;
  }
  return false;
}

function openBesideCaret(view: EditorView): boolean {
  return isOpened(view, view.state.selection.main.head);
}

function complete(context: CompletionContext, known: () => KnownVariables | undefined): CompletionResult | null {
  const open = openVariable(context.state.doc.toString(), context.pos);
  const variables = known();
  if (open === undefined || variables === undefined) return null;
  variables.want();
  const options = completionsFor(variables.groups(), open.typed);
  if (options.length === 0) return null;
  // Filters on each key immediately, so that Enter accepts the visible option.
  const update: NonNullable<CompletionResult['update']> = (_result, _from, _to, now) => complete(now, known);
  return { from: open.start, to: open.end, options, filter: false, update };
}
