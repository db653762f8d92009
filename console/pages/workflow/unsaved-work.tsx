import { useEffect, useState } from 'react';
import { browserEntries } from '../../service/browser-entries.js';
import { draftKey, listDrafts, readDraft, writeDraft, type DraftHead } from '../../service/drafts.js';
import { ownerOf, session } from '../../service/session.js';
import { newId } from '../../drawing/change-drawing.js';
import { useStore, type EditorStore } from '../../drawing/editor-store.js';
import { isEqualJson, type JsonObject } from '../../../graph/json.js';
import { shareParts } from '../../ui/json.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import { announce } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import type { Saver } from './saver.js';

/** Stores unsaved changes in the browser, and offers to restore those that a closed tab left. Viewers have none. */
export function UnsavedWork({ saver }: { saver: Saver }) {
  const store = useStore();
  const [owner] = useState(() => ownerOf(session.getState())?.id);
  return store.isReadOnly || owner === undefined ? null : <Drafts saver={saver} owner={owner} />;
}

function Drafts({ saver, owner }: { saver: Saver; owner: number }) {
  const store = useStore();
  const { id, version } = useStored(saver, (state) => state.workflow);
  const [keeper] = useState(() => new DraftKeeper(store, saver, owner));
  const [drafts, setDrafts] = useState(() => keeper.others());
  useEffect(() => keeper.start(), [keeper]);
  useEffect(() => {
    // Another tab may have saved or discarded the draft.
    const look = ({ key }: StorageEvent): void => {
      if (key === null || key.startsWith(draftKey(owner, id))) setDrafts(keeper.others());
    };
    addEventListener('storage', look);
    return () => removeEventListener('storage', look);
  }, [keeper, owner, id]);
  const [draft] = drafts;
  if (draft === undefined) return null;
  const restore = (): void => {
    keeper.restore(draft.key);
    setDrafts(keeper.others());
    announce('Your unsaved work is back. Undo takes it away again.');
  };
  const discard = (): void => {
    browserEntries().removeItem(draft.key);
    setDrafts(keeper.others());
    announce('Discarded');
  };
  return (
    <section className="unsaved-work" aria-label="Unsaved work">
      <div>
        <p>
          This browser has kept work of <Time at={draft.savedAt} /> that was not saved. Secrets that you typed are not
          in it.
        </p>
        {draft.version < version && (
          <p>
            <strong>
              The workflow was saved since: your work began at version {draft.version}, this is {version}.
            </strong>{' '}
            Restoring shows your older drawing in place of this one.
          </p>
        )}
      </div>
      <Button variant="primary" onClick={restore}>
        Restore
      </Button>
      <Button onClick={discard}>Discard</Button>
    </section>
  );
}

const WRITE_AFTER_MS = 1_000;

/** Writes one editor's unsaved drawing to the browser, and removes it after a save. */
class DraftKeeper {
  readonly #store: EditorStore;
  readonly #saver: Saver;
  readonly #owner: number;
  readonly #key: string;
  #written: JsonObject | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: EditorStore, saver: Saver, owner: number) {
    this.#store = store;
    this.#saver = saver;
    this.#owner = owner;
    this.#key = draftKey(owner, saver.getState().workflow.id, newId());
  }

  /** Returns the drafts of other editors that differ from the stored drawing. Removes equal ones. */
  others(): DraftHead[] {
    const entries = browserEntries();
    const all = listDrafts(entries, this.#owner, this.#saver.getState().workflow.id);
    return all.filter(({ key }) => {
      if (key === this.#key) return false;
      const drawing = readDraft(entries, key);
      const isNews = drawing !== undefined && !isEqualJson(drawing, this.#store.getState().saved);
      if (!isNews) entries.removeItem(key);
      return isNews;
    });
  }

  restore(key: string): void {
    const drawing = readDraft(browserEntries(), key);
    if (drawing === undefined) return;
    this.#store.change(shareParts(this.#store.drawing, drawing) as JsonObject, { select: [] });
    // Removes the old entry only after this editor has written its own.
    if (this.#write()) browserEntries().removeItem(key);
  }

  /** Returns the function that stops it. */
  start(): () => void {
    const flush = (): void => void (this.#timer !== undefined && this.#write());
    const stop = this.#store.subscribe(() => this.#look());
    addEventListener('pagehide', flush);
    document.addEventListener('visibilitychange', flush);
    return () => {
      stop();
      removeEventListener('pagehide', flush);
      document.removeEventListener('visibilitychange', flush);
      flush();
    };
  }

  #look(): void {
    if (!this.#store.getState().isDirty) this.#remove();
    else if (this.#store.drawing !== this.#written) this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS);
  }

  #remove(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#written === undefined) return;
    this.#written = undefined;
    browserEntries().removeItem(this.#key);
  }

  /** After signing out, nothing may be written. */
  #write(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (ownerOf(session.getState())?.id !== this.#owner) return false;
    const { drawing } = this.#store;
    this.#written = drawing;
    return writeDraft(browserEntries(), this.#key, this.#saver.getState().workflow.version, drawing);
  }
}
