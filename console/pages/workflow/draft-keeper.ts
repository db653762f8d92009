// Keeps the unsaved drawing of one editor: in the service, so that it follows the person to other devices, and in the
// browser for as long as the service does not have it. The draft of another editor is never overwritten: the person
// chooses first.
import { newId } from '../../drawing/change-drawing.js';
import type { Drawing } from '../../drawing/drawing.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { mergeDrawings } from '../../drawing/merge-drawings.js';
import { isEqualJson, type JsonObject } from '../../../graph/json.js';
import { draftKey, listDrafts, readDraft, writeDraft, type DraftHead, type Entries } from '../../service/drafts.js';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { shareParts } from '../../ui/json.js';
import { createStore, type Store, type Stored } from '../../ui/store.js';
import type { DraftCalls, DraftOfSave, KeptDraft, Offer } from './kept-draft.js';

interface KeeperState {
  /** The newest first. */
  offers: readonly Offer[];
  /** Why the service does not keep the unsaved drawing; undefined if it does. */
  problem: unknown;
  /** True if the browser has the drawing that the service does not keep. */
  isInBrowser: boolean;
}

interface KeeperOptions {
  store: EditorStore;
  saver: { getState: () => { workflow: { id: number; version: number }; isSaving: boolean } };
  owner: number;
  calls: DraftCalls;
  entries: Entries;
  /** False after signing out: nothing may be written then. */
  isSignedIn: () => boolean;
}

const WRITE_AFTER_MS = 1_000;
const MOST_PUTS = 3;
const TRY_AGAIN_AFTER_MS = 10_000;

export class DraftKeeper implements Stored<KeeperState>, DraftOfSave {
  readonly #options: KeeperOptions;
  #key: string;
  readonly #state: Store<KeeperState> = createStore<KeeperState>({
    offers: [],
    problem: undefined,
    isInBrowser: false,
  });
  readonly getState = this.#state.getState;
  readonly subscribe = this.#state.subscribe;
  /** ETag of the service's draft, if it is this editor's. */
  #tag: string | undefined;
  /** The service's draft, if it is another editor's. */
  #foreign: KeptDraft | undefined;
  #written: JsonObject | undefined;
  #kept: JsonObject | undefined;
  /** What `continue` has shown; undefined once it is saved, or undone. */
  #continued: Drawing | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#key = this.#newKey();
  }

  /** Returns the function that stops it. */
  start(): () => void {
    const stop = this.#options.store.subscribe(() => this.#look());
    // The person may continue or save before it is known whose draft the service has: both wait for it.
    this.#running = this.#find()
      .catch((error: unknown) => this.#set({ problem: error }))
      .finally(() => (this.#running = undefined));
    this.showOffers();
    return () => {
      stop();
      if (this.#timer !== undefined) this.#write();
    };
  }

  /** Writes to the browser at once: the page may be about to go away. */
  readonly flush = (): void => {
    if (this.#timer !== undefined) this.#writeInBrowser();
  };

  /** Looks for drafts that other editors have written, kept or removed meanwhile. */
  readonly lookAround = async (): Promise<void> => {
    this.showOffers();
    const isMine = this.#tag !== undefined || this.#running !== undefined;
    if (!isMine && this.#options.isSignedIn()) await this.#find().catch(() => undefined);
    if (this.getState().problem !== undefined && this.#options.store.getState().isDirty) this.#write();
  };

  /** Shows what the assistant has drawn meanwhile. */
  readonly follow = async (): Promise<void> => {
    while (this.#running !== undefined) await this.#running;
    if (!this.#options.isSignedIn()) return;
    this.#running = this.#find().finally(() => (this.#running = undefined));
    await this.#running;
  };

  /**
   * Resolves to true once the service keeps this editor's drawing, which the assistant reads. Resolves to false if the
   * draft of another editor is in its way. Rejects if the service cannot keep it.
   */
  readonly handOver = async (): Promise<boolean> => {
    const { store } = this.#options;
    await this.follow();
    if (store.getState().isDirty && this.#foreign === undefined) {
      this.#writeInBrowser();
      this.#running = this.#send().finally(() => (this.#running = undefined));
      await this.#running;
    }
    const { problem } = this.getState();
    if (store.getState().isDirty && problem !== undefined) throw problem;
    return this.#foreign === undefined;
  };

  /** Shows the other drawing in place of this editor's, as one step of Undo. Resolves to false if it is gone. */
  async continue({ key }: Offer): Promise<boolean> {
    const { store, calls, entries } = this.#options;
    await this.#running;
    const draft = key === undefined ? await calls.read() : undefined;
    const drawing = key === undefined ? draft?.drawing : readDraft(entries, key);
    if (key === undefined) this.#foreign = undefined;
    if (draft !== undefined) this.#adopt(draft);
    if (key !== undefined && this.#foreign !== undefined && this.#follows(key, this.#foreign)) {
      this.#adopt(this.#foreign);
    }
    if (drawing !== undefined) {
      store.change(shareParts(store.drawing, drawing) as JsonObject, { select: [] });
      this.#kept = draft === undefined ? undefined : store.drawing;
      this.#continued = store.drawing;
      store.isFromDraft = this.#tag !== undefined;
      // Removes the old entry only after this editor has written its own.
      if (this.#write() && key !== undefined) entries.removeItem(key);
    }
    this.showOffers();
    return drawing !== undefined;
  }

  /** Resolves to false if the draft has changed meanwhile: it is offered anew then. */
  async discard({ key }: Offer): Promise<boolean> {
    const { calls, entries, store } = this.#options;
    await this.#running;
    const foreign = this.#foreign;
    let isGone = true;
    if (foreign !== undefined && (key === undefined || this.#follows(key, foreign))) {
      isGone = await calls.remove(foreign.tag);
      this.#foreign = undefined;
      this.#tidy(undefined);
    }
    if (key !== undefined) entries.removeItem(key);
    if (!isGone) await this.#find();
    this.showOffers();
    // This editor's own changes had to wait for the choice.
    if (store.getState().isDirty) this.#write();
    return isGone;
  }

  /**
   * Resolves to true if the service's draft is this editor's, so that its values stand for `********`. The draft of
   * another editor goes to the browser, because the save ends it.
   */
  async beforeSave(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
    try {
      await this.#find();
    } catch {
      // The save itself tells that the service cannot be reached.
    }
    if (this.#foreign !== undefined) {
      const { tag, drawing, version, savedAt } = this.#foreign;
      writeDraft(this.#options.entries, this.#newKey(), { version, tag }, drawing, new Date(savedAt));
    }
    return this.#options.store.isFromDraft;
  }

  /** The service ends the draft with a save. */
  saved(): void {
    this.#lose();
    this.#foreign = undefined;
    this.#continued = undefined;
    this.showOffers();
  }

  #look(): void {
    const { store } = this.#options;
    const { history, isDirty } = store.getState();
    if (this.#continued !== undefined && history.future.includes(this.#continued)) this.#letGo();
    if (!isDirty) this.#remove();
    else if (store.drawing !== this.#written) this.#writeAfter(WRITE_AFTER_MS);
  }

  /** The person has undone `continue`: what it has shown is offered again, like a draft of another editor. */
  #letGo(): void {
    this.#continued = undefined;
    this.#key = this.#newKey();
    this.#lose();
    void this.lookAround();
  }

  #writeAfter(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#write(), delayMs);
  }

  #remove(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#running !== undefined) return void this.#running.then(() => this.#look());
    if (this.#written !== undefined) this.#options.entries.removeItem(this.#key);
    this.#written = undefined;
    if (this.getState().problem !== undefined) this.#set({ problem: undefined });
    const tag = this.#tag;
    this.#lose();
    // A draft that stays is offered when the workflow is opened next, and goes then: it equals the stored drawing.
    if (tag !== undefined) void this.#options.calls.remove(tag).catch(() => undefined);
    // Drafts that equal the stored drawing are no longer offered.
    this.showOffers();
  }

  /** Returns false if the browser does not store it. */
  #write(): boolean {
    const { saver, isSignedIn } = this.#options;
    const isStored = this.#writeInBrowser();
    if (!isSignedIn()) return false;
    // The service ends the draft with the save that is under way.
    if (saver.getState().isSaving || this.#running !== undefined) this.#writeAfter(WRITE_AFTER_MS);
    else this.#running = this.#send().finally(() => (this.#running = undefined));
    return isStored;
  }

  #writeInBrowser(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { store, entries, isSignedIn } = this.#options;
    if (!isSignedIn()) return false;
    this.#written = store.drawing;
    const isInBrowser = writeDraft(entries, this.#key, this.#facts(), store.drawing);
    this.#set({ isInBrowser });
    return isInBrowser;
  }

  async #send(): Promise<void> {
    const { store, entries } = this.#options;
    try {
      if (this.#tag === undefined) await this.#find();
      // The person may have undone the changes meanwhile.
      if (this.#foreign !== undefined || !store.getState().isDirty) return;
      const { drawing } = store;
      const sent = this.#tag === undefined || drawing !== this.#kept ? await this.#put(drawing) : drawing;
      if (sent === undefined) return;
      this.#kept = sent;
      this.#set({ problem: undefined });
      // The entry says from now on that this browser has written the service's draft.
      if (store.drawing === sent) writeDraft(entries, this.#key, this.#facts(), undefined);
    } catch (error) {
      this.#set({ problem: error });
      // A drawing that is too large stays so until the next change.
      if (!isRefused(error, 413)) this.#writeAfter(TRY_AGAIN_AFTER_MS);
    }
  }

  /**
   * Resolves to the drawing that the service has then: with what the assistant has changed meanwhile. Resolves to
   * undefined if another editor has changed the draft: it is offered then.
   */
  async #put(drawing: JsonObject, attempt = 1): Promise<JsonObject | undefined> {
    const { calls, store } = this.#options;
    const { version } = this.#facts();
    try {
      this.#tag = (await calls.write(drawing, version, this.#tag)).tag;
      return drawing;
    } catch (error) {
      if (!isRefused(error, 412) || attempt === MOST_PUTS) throw error;
      await this.#find();
      if (this.#foreign !== undefined) return undefined;
      return store.drawing === this.#kept ? this.#kept : this.#put(store.drawing, attempt + 1);
    }
  }

  /** Reads the service's draft, to know whose it is. One that equals the stored drawing is removed. */
  async #find(): Promise<void> {
    const { calls, store } = this.#options;
    const draft = await calls.read();
    const isMine = draft !== undefined && draft.tag === this.#tag;
    if (draft !== undefined && !isMine && this.#isOfAssistant(draft)) return this.#takeOver(draft);
    if (!isMine) this.#lose();
    const isNews = draft !== undefined && !isMine && !isEqualJson(draft.drawing, store.getState().saved);
    // The person has redone `continue`.
    if (isNews && isEqualJson(draft.drawing, store.drawing)) return this.#goOn(draft);
    this.#foreign = isNews ? draft : undefined;
    if (draft !== undefined && !isMine && !isNews) await calls.remove(draft.tag);
    this.#tidy(draft?.tag);
    this.showOffers();
  }

  /** A draft that began before the last save is offered like that of another editor. */
  #isOfAssistant({ assistantRun, version }: KeptDraft): boolean {
    return assistantRun !== null && version === this.#facts().version;
  }

  /** Adds what the assistant has drawn to what the person has drawn since, and makes the draft this editor's. */
  async #takeOver(draft: KeptDraft): Promise<void> {
    const { store, calls } = this.#options;
    const runId = draft.assistantRun!;
    if (this.#tag === undefined && !store.getState().isDirty) {
      // The page was loaded again: first what the person had not saved, as a step of its own.
      const before = await calls.before();
      if (before?.runId === runId && before.drawing !== undefined)
        store.change(shareParts(store.drawing, before.drawing) as JsonObject);
      this.#kept = store.drawing;
    }
    const base = this.#kept ?? store.getState().saved;
    const theirs = shareParts(store.drawing, draft.drawing) as JsonObject;
    const merged = shareParts(store.drawing, mergeDrawings(base, store.drawing, theirs)) as JsonObject;
    this.#adopt(draft);
    store.isFromDraft = true;
    this.#kept = isEqualJson(merged, theirs) ? merged : theirs;
    store.assist(runId, merged);
    this.showOffers();
    // The draft lacks the changes that the person has made meanwhile.
    if (store.drawing !== this.#kept) this.#writeAfter(WRITE_AFTER_MS);
  }

  /** Makes the service's draft this editor's, whose drawing equals it. */
  #goOn(draft: KeptDraft): void {
    const { store } = this.#options;
    this.#adopt(draft);
    this.#kept = store.drawing;
    this.#continued = store.drawing;
    store.isFromDraft = true;
    this.showOffers();
  }

  /** Makes the service's draft this editor's. */
  #adopt({ tag }: KeptDraft): void {
    this.#tag = tag;
    this.#foreign = undefined;
    this.#tidy(undefined);
  }

  /** The service has no draft of this editor any more. */
  #lose(): void {
    this.#tag = undefined;
    this.#kept = undefined;
    this.#options.store.isFromDraft = false;
  }

  /** Removes the entries that only tell who has written a draft which the service does not have any more. */
  #tidy(tag: string | undefined): void {
    const { entries, owner, saver } = this.#options;
    const heads = listDrafts(entries, owner, saver.getState().workflow.id);
    const isPast = (head: DraftHead): boolean => !head.hasDrawing && head.key !== this.#key && head.tag !== tag;
    for (const { key } of heads.filter(isPast)) entries.removeItem(key);
  }

  /** Offers what other editors have left, as far as it is known here. */
  showOffers(): void {
    const { entries, owner, saver, store } = this.#options;
    const foreign = this.#foreign;
    const heads = listDrafts(entries, owner, saver.getState().workflow.id).filter(({ key }) => key !== this.#key);
    const isElsewhere = !heads.some(({ tag }) => tag !== undefined && tag === foreign?.tag);
    const offers: Offer[] = [];
    for (const { key, savedAt, version, hasDrawing } of heads) {
      const drawing = hasDrawing ? readDraft(entries, key) : undefined;
      const isNews = drawing !== undefined && !isEqualJson(drawing, store.getState().saved);
      if (isNews) offers.push({ key, savedAt, version, isElsewhere: false });
      else if (hasDrawing) entries.removeItem(key);
    }
    if (foreign !== undefined && !offers.some(({ key }) => this.#follows(key!, foreign))) {
      const { savedAt, version } = foreign;
      offers.push({ key: undefined, savedAt, version, isElsewhere });
    }
    this.#set({ offers: offers.toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1)) });
  }

  /** True if the browser's entry is what the editor of the service's draft wrote last. */
  #follows(key: string, { tag, drawing }: KeptDraft): boolean {
    const { entries, owner, saver } = this.#options;
    const head = listDrafts(entries, owner, saver.getState().workflow.id).find((each) => each.key === key);
    return head !== undefined && (head.tag === tag || isEqualJson(readDraft(entries, key), drawing));
  }

  #newKey(): string {
    const { owner, saver } = this.#options;
    return draftKey(owner, saver.getState().workflow.id, newId());
  }

  #facts(): { version: number; tag: string | undefined } {
    return { version: this.#options.saver.getState().workflow.version, tag: this.#tag };
  }

  #set(change: Partial<KeeperState>): void {
    const before = this.getState();
    const next = { ...before, ...change };
    if (!isEqualJson({ ...before, problem: '' }, { ...next, problem: '' }) || before.problem !== next.problem)
      this.#state.setState(next);
  }
}

function isRefused(error: unknown, status: number): boolean {
  return error instanceof ServiceError && error.status === status;
}
