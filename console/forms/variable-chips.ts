// Variables in a CodeMirror editor: chips instead of `{{ ... }}`, and completions after `{{`. The text of the editor
// keeps `{{ ... }}` for copying, searching and the drawing.
import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { EditorState, Prec, StateField, type Extension, type Range } from '@codemirror/state';
import { Decoration, dropCursor, EditorView, keymap, WidgetType, type DecorationSet } from '@codemirror/view';
import { spansOf } from '../../graph/template.js';
import { chipText, type Chip } from '../drawing/chips.js';
import { CLOSE_LIST } from '../ui/dialog.js';
import { completionsFor, openVariable } from './completions.js';
import { INSERT, type KnownVariables } from './form.js';

/** The chip of a variable. While a person edits the path of the variable, the chip only shows the owner. */
class ChipWidget extends WidgetType {
  readonly chip: Chip;
  readonly source: string;
  readonly isEdited: boolean;

  constructor(chip: Chip, source: string, isEdited: boolean) {
    super();
    this.chip = chip;
    this.source = source;
    this.isEdited = isEdited;
  }

  override eq(other: ChipWidget): boolean {
    const isSame = other.source === this.source && other.isEdited === this.isEdited;
    return isSame && chipText(other.chip) === chipText(this.chip) && other.chip.reason === this.chip.reason;
  }

  override toDOM(): HTMLElement {
    const { owner, path, reason } = this.chip;
    const chip = document.createElement('span');
    chip.className = reason === undefined ? 'variable-chip' : 'variable-chip variable-chip-unknown';
    if (owner !== undefined) {
      const part = document.createElement('span');
      part.className = 'variable-chip-owner';
      part.textContent = owner;
      chip.append(part, this.isEdited ? ' ›' : ' › ');
    }
    if (!this.isEdited) chip.append(path);
    chip.title = reason === undefined ? this.source : `${this.source}: ${reason}.`;
    return chip;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

interface Shown {
  all: DecorationSet;
  /** The ranges that the caret skips as a unit: chips, and the closing braces of the variable that is being edited. */
  chips: DecorationSet;
}

const SOURCE = Decoration.mark({ class: 'variable-source' });
const NOTHING = Decoration.replace({});

/** The variable around the caret shows its path for editing, behind a chip of its owner (`Chip.owner`). */
function show(state: EditorState, chipOf: KnownVariables['chipOf']): Shown {
  const { from, to } = state.selection.main;
  const chips: Range<Decoration>[] = [];
  const sources: Range<Decoration>[] = [];
  for (const { start, end, expression } of spansOf(state.doc.toString())) {
    const source = state.sliceDoc(start, end);
    const chip = chipOf(expression);
    if (from <= start || to >= end) {
      chips.push(Decoration.replace({ widget: new ChipWidget(chip, source, false) }).range(start, end));
      continue;
    }
    const { path, tail } = editedPart(chip, start, end, expression);
    if (path > start) {
      chips.push(Decoration.replace({ widget: new ChipWidget(chip, source, true) }).range(start, path));
      chips.push(NOTHING.range(tail, end));
    }
    if (tail > path) sources.push(SOURCE.range(path, tail));
  }
  return { all: Decoration.set([...chips, ...sources], true), chips: Decoration.set(chips) };
}

/**
 * Returns where the part that a person edits begins and ends: the path, or the whole `{{ ... }}` if the chip has no
 * `head`.
 */
function editedPart({ head }: Chip, start: number, end: number, expression: string): { path: number; tail: number } {
  if (head === undefined) return { path: start, tail: end };
  return { path: start + 2 + head, tail: start + 2 + Math.max(head, expression.trimEnd().length) };
}

/** `known` is a function, because other nodes may change while the form is open. */
export function variableChips(known: () => KnownVariables | undefined): Extension {
  const chipOf = (expression: string): Chip => known()?.chipOf(expression) ?? { path: expression.trim() };
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
        { key: 'Enter', run: (view) => leave(view, chipOf) },
        { key: 'Escape', run: (view) => leave(view, chipOf) },
        { key: 'Backspace', run: (view) => removeAtHead(view, chipOf) },
      ]),
    ),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        const { target } = event;
        if (!isChip(target) || event.button !== 0 || event.detail > 1 || !view.state.facet(EditorView.editable))
          return false;
        const chip = openAt(view, view.posAtDOM(target.closest('.variable-chip') ?? target));
        if (chip) event.preventDefault();
        return chip;
      },
      // Browsers refuse drops on elements that are not editable, such as a chip, which may fill the whole field.
      dragover(event) {
        if (isChip(event.target)) event.preventDefault();
      },
      blur(_event, view) {
        leave(view, chipOf);
      },
      [CLOSE_LIST]: (_event: Event, view: EditorView) => closeCompletion(view),
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

function isChip(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.closest('.variable-chip') !== null;
}

/** Returns the variable whose path the caret is in. */
function editedAt(view: EditorView, chipOf: KnownVariables['chipOf']) {
  const { from, to } = view.state.selection.main;
  for (const { start, end, expression } of spansOf(view.state.doc.toString())) {
    if (from > start && to < end) return { start, end, ...editedPart(chipOf(expression), start, end, expression) };
  }
  return undefined;
}

/** Ends the editing of a path. */
function leave(view: EditorView, chipOf: KnownVariables['chipOf']): boolean {
  const edited = editedAt(view, chipOf);
  if (edited === undefined) return false;
  view.dispatch({ selection: { anchor: edited.end } });
  return true;
}

/** At the start of a path, Backspace removes the whole variable, because the path alone is no variable. */
function removeAtHead(view: EditorView, chipOf: KnownVariables['chipOf']): boolean {
  const edited = editedAt(view, chipOf);
  const { from, empty } = view.state.selection.main;
  if (edited === undefined || !empty || from !== edited.path || edited.path === edited.start) return false;
  view.dispatch({ changes: { from: edited.start, to: edited.end }, userEvent: 'delete.backward' });
  return true;
}

/** Shows the path of the variable at a position, with the caret at the path's end. False if there is no variable. */
function openAt(view: EditorView, at: number): boolean {
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
  return openAt(view, view.state.selection.main.head);
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
