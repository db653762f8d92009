// The state of the editor. Components subscribe to the parts that they use.
import { createContext, use } from 'react';
import { createStore, useStored, type Store, type Stored } from '../ui/store.js';
import { loopOfFrame } from './bodies.js';
import { nodesOf, type Drawing, type NodeKinds } from './drawing.js';
import { isEqualJson } from '../../graph/json.js';
import { shareParts } from '../ui/json.js';
import { linksOf } from './links.js';
import { holdsMask } from './masks.js';
import { changedNodes, mergeDrawings } from './merge-drawings.js';
import { noteOfKey, notesOf } from './notes.js';
import { fieldKey, markedProblems, type Problem } from './problem.js';
import { remarkProblems } from './remarks.js';

export interface Selection {
  nodes: ReadonlySet<string>;
  links: ReadonlySet<string>;
}

/** Test information about a node. */
export interface Remark {
  status: string | undefined;
  pin: 'pinned' | 'pinned, stale' | undefined;
  /** True if a model of the node is writing. */
  isWriting: boolean;
}

/** The changes that an answer of the assistant has made. */
interface AssistantAnswer {
  runId: string;
  /** The drawing before its first change, to which Undo may lead. */
  first: Drawing;
  /** `after` without the changes of the answer, but with those that the person has made between them. */
  before: Drawing;
  after: Drawing;
  /** The ids of the changed nodes. */
  nodes: ReadonlySet<string>;
}

interface EditorState {
  history: History;
  selection: Selection;
  /** The drawing as stored by the service. */
  saved: Drawing;
  /** The drawing that a save is sending, which the service may have stored already. */
  sending: Drawing | undefined;
  /**
   * True if the drawing differs from the stored one or the one that is being stored, or if its secrets may differ,
   * because the drawing is from the draft and has masks.
   */
  isDirty: boolean;
  problems: readonly Problem[];
  /** The problems that cards and forms show. */
  marked: readonly Problem[];
  /** The fields that a person has left since the last save (`fieldKey`). */
  left: ReadonlySet<string>;
  remarks: ReadonlyMap<string, Remark>;
  answer: AssistantAnswer | undefined;
}

/** Returns the key of the selected node, frame or note if it is the only selected thing. */
export function onlyNode({ nodes, links }: Selection): string | undefined {
  const [only] = nodes.size === 1 && links.size === 0 ? nodes : [];
  return only;
}

const NOTHING: Selection = { nodes: new Set(), links: new Set() };

export class EditorStore implements Stored<EditorState> {
  readonly kinds: NodeKinds;
  readonly isReadOnly: boolean;
  #isFromDraft = false;
  readonly #store: Store<EditorState>;
  /** The problems that the service has found. */
  #found: readonly Problem[] = [];
  readonly getState: () => EditorState;
  readonly subscribe: Stored<EditorState>['subscribe'];

  constructor(drawing: Drawing, kinds: NodeKinds, isReadOnly: boolean) {
    this.kinds = kinds;
    this.isReadOnly = isReadOnly;
    this.#store = createStore<EditorState>({
      history: startHistory(drawing),
      selection: NOTHING,
      saved: drawing,
      sending: undefined,
      isDirty: false,
      problems: remarkProblems(drawing),
      marked: remarkProblems(drawing),
      left: new Set(),
      remarks: new Map(),
      answer: undefined,
    });
    this.getState = this.#store.getState;
    this.subscribe = this.#store.subscribe;
  }

  get drawing(): Drawing {
    return this.getState().history.present;
  }

  /** True if `********` in the drawing stands for values of the person's draft in the service. */
  get isFromDraft(): boolean {
    return this.#isFromDraft;
  }

  set isFromDraft(isFromDraft: boolean) {
    this.#isFromDraft = isFromDraft;
    const state = this.getState();
    const isDirty = this.#differs(state);
    if (isDirty !== state.isDirty) this.#store.setState({ ...state, isDirty });
  }

  /** A change is one step of Undo, unless it continues the same gesture. */
  change(next: Drawing, options: { gesture?: string; select?: Iterable<string> } = {}): void {
    if (this.isReadOnly) return;
    const history = record(this.getState().history, next, options.gesture);
    const selection = options.select === undefined ? this.getState().selection : selectionOf(options.select);
    this.#set({ history, selection });
  }

  /**
   * Shows the drawing of the assistant. The changes of one answer are one step of Undo, unless a change by the person
   * or a save comes in between: the rest is then a step of its own.
   */
  assist(runId: string, next: Drawing): void {
    const { history, answer } = this.getState();
    const known = answer?.runId === runId ? answer : undefined;
    const nodes = new Set([...(known?.nodes ?? []), ...changedNodes(history.present, next)]);
    const first = known?.first ?? history.present;
    const before = known ? mergeDrawings(this.kinds, known.after, history.present, known.before) : history.present;
    this.change(next, { gesture: gestureOf(runId) });
    this.#set({ answer: { runId, first, before, after: next, nodes } });
  }

  /** Undoes the changes of the answer, as a step of its own. Later changes of the person remain. */
  readonly undoAnswer = (): void => {
    const { answer } = this.getState();
    if (answer === undefined) return;
    this.#set({ answer: undefined });
    this.change(mergeDrawings(this.kinds, answer.after, this.drawing, answer.before));
  };

  /** Called when the next answer begins. Removes the marks from the nodes that the last answer has changed. */
  readonly forgetAnswer = (): void => {
    this.#set({ answer: undefined });
    this.endGesture();
  };

  /** True if the last change belongs to this gesture, which the next one may continue. */
  isWithin(gesture: string): boolean {
    return this.getState().history.gesture === gesture;
  }

  /**
   * Makes the next change its own step of Undo, even if it belongs to the same gesture. Does not end the gesture of an
   * answer of the assistant, because a person may select nodes and leave fields between its changes.
   */
  readonly endGesture = (): void => {
    const { history, answer } = this.getState();
    if (answer !== undefined && history.gesture === gestureOf(answer.runId)) return;
    this.#set({ history: endGesture(history) });
  };

  readonly undo = (): void => {
    this.#goTo(undo(this.getState().history));
    if (this.drawing === this.getState().answer?.first) this.#set({ answer: undefined });
  };

  readonly redo = (): void => this.#goTo(redo(this.getState().history));

  select(nodes: Iterable<string>, links: Iterable<string> = []): void {
    this.#set({ selection: selectionOf(nodes, links) });
  }

  /** Sets the problems that the service has found in the drawing. Adds the remarks of an import. */
  setProblems(problems: readonly Problem[]): void {
    this.#found = problems;
    this.#set({ problems: this.#withRemarks(this.drawing) });
  }

  #withRemarks(drawing: Drawing): readonly Problem[] {
    const remarks = remarkProblems(drawing);
    return remarks.length === 0 ? this.#found : [...this.#found, ...remarks];
  }

  /** A person has left a field of a node, so its problems are shown from now on. */
  leaveField(nodeId: string, path: string): void {
    const { left } = this.getState();
    const key = fieldKey(nodeId, path);
    if (!left.has(key)) this.#set({ left: new Set([...left, key]) });
  }

  setRemarks(remarks: ReadonlyMap<string, Remark>): void {
    this.#set({ remarks });
  }

  markSending(drawing: Drawing | undefined): void {
    this.#set({ sending: drawing });
  }

  /**
   * The service stored `sent` and returned `answered`, in which secrets are masked. The form then shows the masks,
   * unless the drawing was changed during the call.
   */
  markSaved(sent: Drawing, answered: Drawing): void {
    const { history } = this.getState();
    const saved = shareParts(sent, answered) as Drawing;
    // Changes made during the call remain, unsaved.
    const present = history.present === sent ? saved : history.present;
    this.#set({ history: { ...history, present, gesture: undefined }, saved, sending: undefined, left: new Set() });
  }

  /** The service now stores another drawing. The editor's drawing remains, with unsaved changes. */
  markStored(stored: Drawing): void {
    this.#set({ saved: shareParts(this.drawing, stored) as Drawing });
  }

  /** Replaces the editor's drawing by the service's. Undo restores the old one. */
  takeOver(answered: Drawing): void {
    const saved = shareParts(this.drawing, answered) as Drawing;
    this.#isFromDraft = false;
    this.#set({ history: record(this.getState().history, saved), saved, selection: NOTHING });
  }

  /** Deselects what is gone. Otherwise the next click would extend the selection to two things. */
  #goTo(history: History): void {
    this.#set({ history, selection: onlyThere(this.getState().selection, history.present, this.kinds) });
  }

  #set(change: Partial<Omit<EditorState, 'isDirty' | 'marked'>>): void {
    const before = this.getState();
    const next = { ...before, ...change };
    const [{ present: drawn }, { present: drawing }] = [before.history, next.history];
    const hasRemarks = drawn['remarks'] !== undefined || drawing['remarks'] !== undefined;
    // A node may have been removed, or a remark of an import settled, so the problems are computed again.
    if (drawing !== drawn && hasRemarks)
      next.problems = shareParts(before.problems, this.#withRemarks(drawing)) as Problem[];
    const isUnchanged =
      next.history === before.history &&
      next.selection === before.selection &&
      next.problems === before.problems &&
      next.left === before.left &&
      next.remarks === before.remarks &&
      next.answer === before.answer &&
      next.saved === before.saved &&
      next.sending === before.sending;
    if (isUnchanged) return;
    // Typing changes none of these.
    const hasSameMarks = next.problems === before.problems && next.left === before.left && next.saved === before.saved;
    const marked = hasSameMarks ? before.marked : markedProblems(next.problems, next.saved, next.left);
    this.#store.setState({ ...next, isDirty: this.#differs(next), marked });
  }

  #differs({ history: { present }, saved, sending }: Pick<EditorState, 'history' | 'saved' | 'sending'>): boolean {
    const differs = [saved, sending].some((each) => each !== undefined && !isEqualJson(each, present));
    return differs || (this.#isFromDraft && holdsMask(present));
  }
}

/** The gesture of an answer of the assistant. No change by a person has the same gesture. */
function gestureOf(runId: string): string {
  return `assistant ${runId}`;
}

function selectionOf(nodes: Iterable<string>, links: Iterable<string> = []): Selection {
  return { nodes: new Set(nodes), links: new Set(links) };
}

/** Returns the same selection if all of it exists in the drawing. */
function onlyThere(selection: Selection, drawing: Drawing, kinds: NodeKinds): Selection {
  const isThere = (key: string): boolean => {
    const note = noteOfKey(key);
    return note === undefined ? nodesOf(drawing).has(loopOfFrame(key) ?? key) : notesOf(drawing).has(note);
  };
  const links = new Set(linksOf(drawing, kinds).map(({ id }) => id));
  const left = {
    nodes: [...selection.nodes].filter(isThere),
    links: [...selection.links].filter((id) => links.has(id)),
  };
  const isWhole = left.nodes.length === selection.nodes.size && left.links.length === selection.links.size;
  return isWhole ? selection : selectionOf(left.nodes, left.links);
}

/** The store object never changes while a workflow is open, so the context renders nothing again. */
export const EditorContext = createContext<EditorStore | undefined>(undefined);

export function useStore(): EditorStore {
  const store = use(EditorContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must return a part of the state, not a new object, or each update renders again. */
export function useEditor<T>(pick: (state: EditorState) => T): T {
  const store = useStore();
  return useStored(store, pick);
}

// Undo history as snapshots. Drawings share unchanged parts, so a snapshot only costs what changed.

interface History {
  past: readonly Drawing[];
  present: Drawing;
  future: readonly Drawing[];
  /** Identifies the last step's gesture. Further changes of the same gesture extend that step. */
  gesture: string | undefined;
}

const MAX_STEPS = 200;

function startHistory(present: Drawing): History {
  return { past: [], present, future: [], gesture: undefined };
}

/** Typing in one field, or moving by arrow keys, is one gesture and therefore one step. */
function record(history: History, next: Drawing, gesture?: string): History {
  if (next === history.present) return history;
  const goesOn = gesture !== undefined && gesture === history.gesture;
  const past = goesOn ? history.past : [...history.past, history.present].slice(-MAX_STEPS);
  return { past, present: next, future: [], gesture };
}

function endGesture(history: History): History {
  return history.gesture === undefined ? history : { ...history, gesture: undefined };
}

function undo(history: History): History {
  const last = history.past.at(-1);
  if (last === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    present: last,
    future: [history.present, ...history.future],
    gesture: undefined,
  };
}

function redo(history: History): History {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future, gesture: undefined };
}
