// Stores the draft, that is the unsaved drawing, of one editor (an open page). The service stores it, so that a person
// can continue on another device; the browser stores it for as long as the service does not have it. The draft of
// another editor is never overwritten: it is offered, and the person continues or discards it.
import { newId } from '../../drawing/change-drawing.js';
import type { Drawing } from '../../drawing/drawing.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { holdsMask, isMaskedCopy } from '../../drawing/masks.js';
import { mergeDrawings } from '../../drawing/merge-drawings.js';
import { isEqualJson, type JsonObject } from '../../../graph/json.js';
import { draftKey, listDrafts, readDraft, writeDraft, type DraftHead, type Entries } from '../../service/drafts.js';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { shareParts } from '../../ui/json.js';
import { createStore, type Store, type Stored } from '../../ui/store.js';
import type { DraftCalls, DraftOfSave, KeptDraft, Offer } from './kept-draft.js';

interface KeeperState {
  /** Drafts of other editors, the newest first. */
  offers: readonly Offer[];
  /**
   * Why a request to read or store the draft failed. Undefined if none has failed, and once the draft is stored or
   * nothing is unsaved.
   */
  problem: unknown;
  /** True if the last write of the drawing to the browser has succeeded. */
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
const NOT_COPIED =
  "The workflow was not saved. The save would delete another place's draft, which cannot be copied to this browser " +
  'because its storage is full or blocked. Continue or discard that draft first.';

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
  /** ETag of the service's draft, if the draft is this editor's. */
  #tag: string | undefined;
  /** The service's draft, if it is another editor's. */
  #foreign: KeptDraft | undefined;
  /** The drawing that this editor last tried to write to the browser. */
  #inBrowser: JsonObject | undefined;
  /** The drawing of the service's draft, if the draft is this editor's. */
  #inService: JsonObject | undefined;
  /**
   * The drawing of a draft that `continue` or `#adoptShown` has made this editor's. Undefined once the drawing is saved
   * or undone.
   */
  #continued: Drawing | undefined;
  /** ETag of this editor's draft that the service should have deleted, but the request failed. */
  #unremoved: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The exchange with the service that is in progress. Never rejects. */
  #running: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#key = this.#newKey();
  }

  /** Stores each changed drawing until the returned function is called. */
  start(): () => void {
    const stop = this.#options.store.subscribe(() => this.#look());
    // `continue`, `discard` and a save await this request, because they depend on whose draft the service has.
    void this.#runAlone(() => this.#find().catch((error: unknown) => this.#set({ problem: error })));
    this.showOffers();
    return () => {
      stop();
      if (this.#timer !== undefined) this.#write();
    };
  }

  /**
   * Writes a pending change to the browser at once, because the page may be about to close. The timer goes on, so that
   * the service gets the change if the page stays.
   */
  readonly flush = (): void => {
    if (this.#timer !== undefined) this.#writeInBrowser();
  };

  /**
   * Looks for drafts that other editors have written or removed meanwhile, and repeats a failed write. Does not ask the
   * service while it has this editor's draft.
   */
  readonly lookAround = async (): Promise<void> => {
    this.showOffers();
    const isMine = this.#tag !== undefined || this.#running !== undefined;
    if (!isMine && this.#options.isSignedIn()) await this.#runAlone(() => this.#find().catch(() => undefined));
    if (this.getState().problem !== undefined && this.#options.store.getState().isDirty) this.#write();
  };

  /** Reads the service's draft. Shows the assistant's changes to it, and offers it if another editor has written it. */
  readonly follow = async (): Promise<void> => {
    await this.#runAlone(async () => {
      if (this.#options.isSignedIn()) await this.#find();
    });
  };

  /**
   * Resolves to true once the service has this editor's drawing, which the assistant reads. Resolves to false if the
   * service has the draft of another editor. Rejects if the draft cannot be read or stored.
   */
  readonly handOver = async (): Promise<boolean> => {
    const { store } = this.#options;
    await this.follow();
    if (store.getState().isDirty && this.#foreign === undefined) {
      this.#cancelTimer();
      this.#writeInBrowser();
      await this.#runAlone(() => this.#send());
    }
    const { problem } = this.getState();
    if (store.getState().isDirty && problem !== undefined) throw problem;
    return this.#foreign === undefined;
  };

  /** Replaces this editor's drawing by the offered one, as one step of Undo. Resolves to false if the offer is gone. */
  async continue({ key }: Offer): Promise<boolean> {
    const { store, calls, entries } = this.#options;
    await this.#running;
    const draft = key === undefined ? await calls.read() : undefined;
    const drawing = key === undefined ? draft?.drawing : readDraft(entries, key);
    if (key === undefined) this.#foreign = undefined;
    if (draft !== undefined) this.#adopt(draft);
    if (key !== undefined && this.#foreign !== undefined && this.#belongsTo(key, this.#foreign)) {
      this.#adopt(this.#foreign);
    }
    if (drawing !== undefined) {
      // Set before the change, because the drawing may differ from the stored one only in secrets of the draft.
      store.isFromDraft = this.#tag !== undefined;
      const shown = shareParts(store.drawing, drawing) as JsonObject;
      // The copy makes the continuation of such a draft a step of Undo, too.
      store.change(shown === store.drawing ? { ...shown } : shown, { select: [] });
      this.#inService = draft === undefined ? undefined : store.drawing;
      this.#continued = store.drawing;
      // Removes the old entry only after this editor has written its own.
      if (this.#write() && key !== undefined) entries.removeItem(key);
    }
    this.showOffers();
    return drawing !== undefined;
  }

  /** Deletes an offered draft. Resolves to false if the draft has changed meanwhile; it is then offered again. */
  async discard({ key }: Offer): Promise<boolean> {
    const { calls, entries, store } = this.#options;
    const isGone = await this.#runAlone(async () => {
      const foreign = this.#foreign;
      let isRemoved = true;
      if (foreign !== undefined && (key === undefined || this.#belongsTo(key, foreign))) {
        isRemoved = await calls.remove(foreign.tag);
        this.#foreign = undefined;
        this.#tidy(undefined);
      }
      if (key !== undefined) entries.removeItem(key);
      if (!isRemoved) await this.#find();
      return isRemoved;
    });
    this.showOffers();
    // This editor's own changes were not sent while the draft of another editor was offered.
    if (store.getState().isDirty) this.#write();
    return isGone;
  }

  /**
   * Resolves to the ETag of the service's draft if `********` in the drawing stands for values of that draft. Copies
   * the draft of another editor to the browser, because the service deletes it with the save.
   */
  async beforeSave(): Promise<string | undefined> {
    this.#cancelTimer();
    // If this request fails, so does the save, which could delete the unseen draft of another editor.
    await this.#runAlone(() => this.#find());
    if (this.#foreign !== undefined) {
      const { tag, drawing, version, savedAt } = this.#foreign;
      const isKept = writeDraft(this.#options.entries, this.#newKey(), { version, tag }, drawing, new Date(savedAt));
      if (!isKept) throw new Error(NOT_COPIED);
    }
    return this.#options.store.isFromDraft ? this.#tag : undefined;
  }

  /** Called after a save, with which the service has deleted the draft. */
  saved(): void {
    this.#forgetOwnDraft();
    this.#foreign = undefined;
    this.#continued = undefined;
    this.showOffers();
  }

  #look(): void {
    const { store } = this.#options;
    const { future } = store.getState().history;
    if (this.#continued !== undefined && future.includes(this.#continued)) this.#offerContinuedAgain();
    if (!store.getState().isDirty) this.#remove();
    else if (store.drawing !== this.#inBrowser) this.#writeAfter(WRITE_AFTER_MS);
  }

  /** The person has undone `continue`, so the draft that it showed is offered again, like one of another editor. */
  #offerContinuedAgain(): void {
    this.#continued = undefined;
    this.#key = this.#newKey();
    this.#forgetOwnDraft();
    void this.lookAround();
  }

  #writeAfter(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#write(), delayMs);
  }

  #cancelTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Starts the exchange with the service once no other one is in progress: two at once would change the same state. */
  async #runAlone<T>(exchange: () => Promise<T>): Promise<T> {
    while (this.#running !== undefined) await this.#running;
    const result = exchange();
    const end = (): void => {
      this.#running = undefined;
    };
    this.#running = result.then(end, end);
    return result;
  }

  #remove(): void {
    this.#cancelTimer();
    if (this.#running !== undefined) return void this.#running.then(() => this.#look());
    if (this.#inBrowser !== undefined) this.#options.entries.removeItem(this.#key);
    this.#inBrowser = undefined;
    if (this.getState().problem !== undefined) this.#set({ problem: undefined });
    const tag = this.#tag;
    this.#forgetOwnDraft();
    // If the request fails, the next `#find` of this editor repeats it.
    if (tag !== undefined) void this.#options.calls.remove(tag).catch(() => (this.#unremoved = tag));
    // Drafts that equal the stored drawing are no longer offered.
    this.showOffers();
  }

  /** Writes the drawing to the browser and to the service. Returns false if the browser has not stored it. */
  #write(): boolean {
    const { saver, isSignedIn } = this.#options;
    this.#cancelTimer();
    const isStored = this.#writeInBrowser();
    if (!isSignedIn()) return false;
    // The service deletes the draft with a save, so a write waits until the save has ended.
    if (saver.getState().isSaving || this.#running !== undefined) this.#writeAfter(WRITE_AFTER_MS);
    else void this.#runAlone(() => this.#send());
    return isStored;
  }

  #writeInBrowser(): boolean {
    const { store, entries, isSignedIn } = this.#options;
    if (!isSignedIn()) return false;
    this.#inBrowser = store.drawing;
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
      const sent = this.#tag === undefined || drawing !== this.#inService ? await this.#put(drawing) : drawing;
      if (sent === undefined) return;
      this.#inService = sent;
      this.#set({ problem: undefined });
      // From now on the entry has no drawing; it only records that this editor wrote the service's draft.
      if (store.drawing === sent) writeDraft(entries, this.#key, this.#facts(), undefined);
    } catch (error) {
      this.#set({ problem: error });
      // No timer sends a drawing again that is too large (413).
      if (!isRefused(error, 413)) this.#writeAfter(TRY_AGAIN_AFTER_MS);
    }
  }

  /**
   * Sends the drawing. Resolves to the drawing that the service then has, which may include changes of the assistant.
   * Resolves to undefined if another editor has changed the draft, which is then offered.
   */
  async #put(drawing: JsonObject, attempt = 1): Promise<JsonObject | undefined> {
    const { calls, store } = this.#options;
    const { version } = this.#facts();
    try {
      this.#tag = (await calls.write(drawing, version, this.#tag)).tag;
      return drawing;
    } catch (error) {
      if (!isRefused(error, 412) || attempt === MOST_PUTS) throw error;
      if (await this.#hasStored(drawing)) return drawing;
      await this.#find();
      if (this.#foreign !== undefined) return undefined;
      return store.drawing === this.#inService ? this.#inService : this.#put(store.drawing, attempt + 1);
    }
  }

  /**
   * True if the service has the drawing of a write that it has refused: it stored the drawing, the answer was lost, and
   * the repeated request had the old ETag. The draft is then this editor's.
   */
  async #hasStored(drawing: JsonObject): Promise<boolean> {
    const draft = await this.#options.calls.read();
    if (draft === undefined || draft.assistantRun !== null || !isMaskedCopy(draft.drawing, drawing)) return false;
    this.#tag = draft.tag;
    return true;
  }

  /**
   * Reads the service's draft and finds out which editor wrote it. Takes over a draft of the assistant. Removes a draft
   * of another editor that equals the stored drawing and has no masks, which could hide another secret.
   */
  async #find(): Promise<void> {
    const { calls, store } = this.#options;
    const draft = await this.#readLive();
    const isMine = draft !== undefined && draft.tag === this.#tag;
    if (draft !== undefined && !isMine && this.#isOfAssistant(draft)) return this.#takeOver(draft);
    if (!isMine) this.#forgetOwnDraft();
    const { saved, isDirty } = store.getState();
    const isNews = draft !== undefined && !isMine && (holdsMask(draft.drawing) || !isEqualJson(draft.drawing, saved));
    // The draft equals the unsaved drawing of this editor, for example because the person has redone `continue`.
    if (isNews && isDirty && isEqualJson(draft.drawing, store.drawing)) return this.#adoptShown(draft);
    this.#foreign = isNews ? draft : undefined;
    if (draft !== undefined && !isMine && !isNews) await calls.remove(draft.tag);
    this.#tidy(draft?.tag);
    this.showOffers();
  }

  /** Reads the service's draft, and repeats its removal if that has failed before. */
  async #readLive(): Promise<KeptDraft | undefined> {
    const { calls } = this.#options;
    const draft = await calls.read();
    if (draft === undefined || draft.tag !== this.#unremoved || draft.tag === this.#tag) return draft;
    return (await calls.remove(draft.tag)) ? undefined : calls.read();
  }

  /**
   * True if the assistant wrote the draft, on the version of the workflow that this page has. A draft of the assistant
   * on another version is offered like the draft of another editor.
   */
  #isOfAssistant({ assistantRun, version }: KeptDraft): boolean {
    return assistantRun !== null && version === this.#facts().version;
  }

  /** Merges the assistant's changes with those that the person has made since, and makes the draft this editor's. */
  async #takeOver(draft: KeptDraft): Promise<void> {
    const { store, calls } = this.#options;
    const runId = draft.assistantRun!;
    if (this.#tag === undefined && !store.getState().isDirty) {
      // This editor has no unsaved changes, for example after a reload. Restores the unsaved drawing from before the
      // answer, as its own step of Undo.
      const before = await calls.before();
      // A change that the person has made during the request is merged below, as one that the draft lacks.
      if (!store.getState().isDirty) {
        if (before?.runId === runId && before.drawing !== undefined)
          store.change(shareParts(store.drawing, before.drawing) as JsonObject);
        this.#inService = store.drawing;
      }
    }
    const base = this.#inService ?? store.getState().saved;
    const theirs = shareParts(store.drawing, draft.drawing) as JsonObject;
    const merged = shareParts(store.drawing, mergeDrawings(store.kinds, base, store.drawing, theirs)) as JsonObject;
    this.#adopt(draft);
    store.isFromDraft = true;
    this.#inService = isEqualJson(merged, theirs) ? merged : theirs;
    store.assist(runId, merged);
    this.showOffers();
    // The draft lacks the changes that the person has made meanwhile.
    if (store.drawing !== this.#inService) this.#writeAfter(WRITE_AFTER_MS);
  }

  /** Makes the service's draft this editor's. The editor shows the same drawing. */
  #adoptShown(draft: KeptDraft): void {
    const { store } = this.#options;
    this.#adopt(draft);
    this.#inService = store.drawing;
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

  /** Records that the service has no draft of this editor any more. */
  #forgetOwnDraft(): void {
    this.#tag = undefined;
    this.#inService = undefined;
    this.#options.store.isFromDraft = false;
  }

  /** Removes entries without a drawing, except this editor's and that of the service's draft with the ETag `tag`. */
  #tidy(tag: string | undefined): void {
    const { entries, owner, saver } = this.#options;
    const heads = listDrafts(entries, owner, saver.getState().workflow.id);
    const isPast = (head: DraftHead): boolean => !head.hasDrawing && head.key !== this.#key && head.tag !== tag;
    for (const { key } of heads.filter(isPast)) entries.removeItem(key);
  }

  /** Updates the offers from the browser's entries and the service's draft. Removes entries that offer nothing new. */
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
    if (foreign !== undefined && !offers.some(({ key }) => this.#belongsTo(key!, foreign))) {
      const { savedAt, version } = foreign;
      offers.push({ key: undefined, savedAt, version, isElsewhere });
    }
    this.#set({ offers: offers.toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1)) });
  }

  /** True if the browser's entry belongs to the service's draft: both have the same ETag or the same drawing. */
  #belongsTo(key: string, { tag, drawing }: KeptDraft): boolean {
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
