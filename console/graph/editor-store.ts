// What the editor works on. Parts of the page subscribe to what they need of it.
import type { Drawing } from './drawing.js';
import { begin, endGesture, record, redo, undo, type History } from './history.js';
import type { NodeKinds } from './node-kind.js';
import { isSameJson, shareParts } from './same-json.js';
import type { Problem } from './schema-problems.js';

export interface Selection {
  nodes: ReadonlySet<string>;
  links: ReadonlySet<string>;
}

export interface EditorState {
  history: History;
  selection: Selection;
  /** The drawing as the service has it. */
  saved: Drawing;
  isDirty: boolean;
  problems: readonly Problem[];
}

const NOTHING: Selection = { nodes: new Set(), links: new Set() };

export class EditorStore {
  readonly kinds: NodeKinds;
  readonly isReadOnly: boolean;
  #state: EditorState;
  readonly #listeners = new Set<() => void>();

  constructor(drawing: Drawing, kinds: NodeKinds, isReadOnly: boolean) {
    this.kinds = kinds;
    this.isReadOnly = isReadOnly;
    this.#state = { history: begin(drawing), selection: NOTHING, saved: drawing, isDirty: false, problems: [] };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getState = (): EditorState => this.#state;

  get drawing(): Drawing {
    return this.#state.history.present;
  }

  /** One step of Undo, unless it goes on with the same gesture. */
  change(next: Drawing, options: { gesture?: string; select?: Iterable<string> } = {}): void {
    if (this.isReadOnly) return;
    const history = record(this.#state.history, next, options.gesture);
    const selection = options.select === undefined ? this.#state.selection : selectionOf(options.select);
    this.#set({ history, selection });
  }

  /** The next change is a step of its own, whatever it is about. */
  readonly endGesture = (): void => {
    this.#set({ history: endGesture(this.#state.history) });
  };

  readonly undo = (): void => this.#set({ history: undo(this.#state.history) });

  readonly redo = (): void => this.#set({ history: redo(this.#state.history) });

  select(nodes: Iterable<string>, links: Iterable<string> = []): void {
    this.#set({ selection: selectionOf(nodes, links) });
  }

  setProblems(problems: readonly Problem[]): void {
    this.#set({ problems });
  }

  /** The service has `sent` and shows it as `answered`: with secrets masked, which the form shows from now on, too. */
  markSaved(sent: Drawing, answered: Drawing): void {
    const { history } = this.#state;
    const saved = shareParts(sent, answered) as Drawing;
    // Who has gone on drawing meanwhile keeps that; it is not saved yet.
    const present = history.present === sent ? saved : history.present;
    this.#set({ history: { ...history, present, gesture: undefined }, saved });
  }

  /** The service has another drawing than was known: what is here stays, and is not saved. */
  markStored(stored: Drawing): void {
    this.#set({ saved: shareParts(this.drawing, stored) as Drawing });
  }

  /** What the service has now, in place of everything here; Undo brings this back. */
  takeOver(answered: Drawing): void {
    const saved = shareParts(this.drawing, answered) as Drawing;
    this.#set({ history: record(this.#state.history, saved), saved, selection: NOTHING });
  }

  #set(change: Partial<Omit<EditorState, 'isDirty'>>): void {
    const next = { ...this.#state, ...change };
    const isUnchanged =
      next.history === this.#state.history &&
      next.selection === this.#state.selection &&
      next.problems === this.#state.problems &&
      next.saved === this.#state.saved;
    if (isUnchanged) return;
    this.#state = { ...next, isDirty: !isSameJson(next.saved, next.history.present) };
    for (const listener of this.#listeners) listener();
  }
}

function selectionOf(nodes: Iterable<string>, links: Iterable<string> = []): Selection {
  return { nodes: new Set(nodes), links: new Set(links) };
}
