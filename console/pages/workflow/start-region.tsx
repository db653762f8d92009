import { useMutation } from '@tanstack/react-query';
import { useReactFlow } from '@xyflow/react';
import { useId, useMemo, useState } from 'react';
import { nodesOf } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { KindIcon } from '../../drawing/kind-icon.js';
import { notesOf } from '../../drawing/notes.js';
import { startersOf, type Starter } from '../../drawing/starters.js';
import { Button } from '../../ui/button.js';
import { Alert } from '../../ui/notices.js';
import { explain } from '../../service/explain.js';
import type { Saver } from './saver.js';
import { ImportButton, ImportDialogs, useImport } from '../../parts/import.js';
import { FirstSamples, GalleryDialog } from '../../parts/gallery/lazy-gallery.js';
import type { Sample } from '../../parts/gallery/sample.js';

/** Starters, samples and import, shown on an empty canvas. `onChat` shows or hides the chat preview. */
export function StartRegion({ saver, onChat }: { saver: Saver; onChat: (isOpen: boolean) => void }) {
  const { isReadOnly } = useStore();
  const isEmpty = useEditor(({ history: { present } }) => nodesOf(present).size + notesOf(present).size === 0);
  const chat = useMutation({
    mutationFn: () => saver.changeDetails({ is_chat: true }),
    onMutate: () => onChat(true),
    onError: () => onChat(false),
  });
  return (
    <>
      {!isReadOnly && isEmpty && <Start saver={saver} offerChat={chat.mutate} />}
      {chat.error !== null && (
        <div className="editor-alerts start-alert">
          <Alert onRetry={chat.mutate} isRetrying={chat.isPending}>
            The workflow is not offered as a chat. {explain(chat.error)}
          </Alert>
        </div>
      )}
    </>
  );
}

interface StartProps {
  saver: Saver;
  offerChat: () => void;
}

function Start({ saver, offerChat }: StartProps) {
  const store = useStore();
  const flow = useReactFlow();
  const id = useId();
  const importing = useImport(String(saver.getState().workflow.project));
  const starters = useMemo(() => startersOf(store.kinds), [store.kinds]);
  const [isGalleryOpen, setIsGalleryOpen] = useState(false);
  // Delayed until the chat preview has its place beside the canvas.
  const fit = (): void => void setTimeout(() => void flow.fitView({ minZoom: 0.6, maxZoom: 1, padding: 0.15 }));
  const start = ({ make, isChat }: Starter): void => {
    if (isChat) offerChat();
    const { drawing, chosen, needsModel } = make(store.drawing);
    // A chat that can already answer is tried in its preview, so no node is selected for editing.
    store.change(drawing, { select: isChat && !needsModel ? [] : [chosen] });
    fit();
  };
  const use = ({ drawing, isChat }: Sample): void => {
    if (isChat) offerChat();
    store.change(drawing, { select: [] });
    fit();
  };
  return (
    <section className="start" aria-label="Start">
      <h2>Start with</h2>
      <ul className="start-list">
        {starters.map((starter) => (
          <li key={starter.name} className="start-choice">
            <KindIcon type={starter.icon} />
            <div>
              <button type="button" aria-describedby={`${id}${starter.icon}`} onClick={() => start(starter)}>
                {starter.name}
              </button>
              <p id={`${id}${starter.icon}`}>{starter.line}</p>
            </div>
          </li>
        ))}
      </ul>
      <h2>Or take a sample</h2>
      <FirstSamples onUse={use} />
      <div className="start-foot">
        <Button onClick={() => setIsGalleryOpen(true)}>From the gallery</Button>
        <ImportButton isBusy={importing.isBusy} onFiles={importing.take} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      <ImportDialogs importing={importing} />
      {isGalleryOpen && <GalleryDialog onUse={use} onClose={() => setIsGalleryOpen(false)} />}
    </section>
  );
}
