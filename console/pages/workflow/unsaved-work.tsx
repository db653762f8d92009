import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { browserEntries } from '../../service/browser-entries.js';
import { draftKey } from '../../service/drafts.js';
import { explain } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { ownerOf, session } from '../../service/session.js';
import { useEditor, type EditorStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import { announce } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import { draftCalls } from './draft-calls.js';
import { DraftKeeper } from './draft-keeper.js';
import type { Offer } from './kept-draft.js';
import type { Saver } from './saver.js';

/** Stores unsaved changes while the editor is open. Returns undefined for viewers, who have none. */
export function useDraftKeeper(store: EditorStore, saver: Saver): DraftKeeper | undefined {
  const { id } = useStored(saver, (state) => state.workflow);
  const [owner] = useState(() => ownerOf(session.getState())?.id);
  const [keeper] = useState(() => {
    if (store.isReadOnly || owner === undefined) return undefined;
    const isSignedIn = (): boolean => ownerOf(session.getState())?.id === owner;
    return new DraftKeeper({ store, saver, owner, calls: draftCalls(id), entries: browserEntries(), isSignedIn });
  });
  useEffect(() => {
    if (keeper === undefined || owner === undefined) return undefined;
    saver.keepDraft(keeper);
    const stop = keeper.start();
    // Another tab may have written or removed a draft.
    const look = ({ key }: StorageEvent): void => {
      if (key === null || key.startsWith(draftKey(owner, id))) keeper.showOffers();
    };
    const change = (): void => {
      if (document.visibilityState === 'hidden') keeper.flush();
      else void keeper.lookAround();
    };
    const lookAround = (): void => void keeper.lookAround();
    addEventListener('storage', look);
    addEventListener('pagehide', keeper.flush);
    addEventListener('online', lookAround);
    document.addEventListener('visibilitychange', change);
    return () => {
      removeEventListener('storage', look);
      removeEventListener('pagehide', keeper.flush);
      removeEventListener('online', lookAround);
      document.removeEventListener('visibilitychange', change);
      stop();
    };
  }, [keeper, saver, owner, id]);
  return keeper;
}

/** Offers the unsaved changes of other tabs, open or closed, and of other devices. */
export function UnsavedWork({ saver, keeper }: { saver: Saver; keeper: DraftKeeper }) {
  const [offer] = useStored(keeper, (state) => state.offers);
  const isDirty = useEditor((state) => state.isDirty);
  const problem = useStored(keeper, (state) => state.problem);
  const isInBrowser = useStored(keeper, (state) => state.isInBrowser);
  return (
    <>
      {offer !== undefined && <OfferedWork key={offer.savedAt} keeper={keeper} saver={saver} offer={offer} />}
      {isDirty && problem !== undefined && (
        <p className="unsaved-where">
          {isInBrowser
            ? 'Until you save, only this browser has your changes.'
            : 'Until you save, only this page has your changes.'}{' '}
          {explain(problem)}
        </p>
      )}
    </>
  );
}

interface OfferedWorkProps {
  keeper: DraftKeeper;
  saver: Saver;
  offer: Offer;
}

function OfferedWork({ keeper, saver, offer }: OfferedWorkProps) {
  const { version } = useStored(saver, (state) => state.workflow);
  const isDirty = useEditor((state) => state.isDirty);
  const go = useMutation({
    mutationFn: () => keeper.continue(offer),
    onSuccess: (isThere) =>
      announce(
        isThere ? 'Your unsaved work is back. Undo takes it away again.' : 'It was saved or discarded meanwhile.',
      ),
  });
  const discard = useMutation({
    mutationFn: () => keeper.discard(offer),
    onSuccess: (isGone) => announce(isGone ? 'Discarded' : 'It has changed meanwhile, so it is still there.'),
  });
  // Announced only if the offer appears while the person works, for example because another device has written.
  const [comesBetween] = useState(isDirty);
  useEffect(() => {
    if (comesBetween) announce('There are unsaved changes from another place.');
  }, [comesBetween]);
  const isBusy = go.isPending || discard.isPending;
  return (
    <section className="unsaved-work" aria-label="Unsaved work">
      <div>
        <p>
          Unsaved changes of <Time at={offer.savedAt} />
          {offer.isElsewhere ? ', from another place.' : ', from this browser.'}
          {offer.key !== undefined &&
            ' Secrets that you typed are not in it, nor values of actions that were not saved yet.'}
        </p>
        {isDirty && <p>To continue shows them in place of your changes here; Undo brings these back.</p>}
        {offer.version < version && (
          <p>
            <strong>
              The workflow was saved since: that work began at version {offer.version}, this is {version}.
            </strong>{' '}
            To continue shows the older drawing in place of this one.
          </p>
        )}
        <Problem error={go.error ?? discard.error} />
      </div>
      <Button variant="primary" isBusy={go.isPending} disabled={isBusy} onClick={() => go.mutate()}>
        Continue
      </Button>
      <Button isBusy={discard.isPending} disabled={isBusy} onClick={() => discard.mutate()}>
        Discard
      </Button>
    </section>
  );
}
