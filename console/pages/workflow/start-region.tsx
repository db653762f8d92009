import { useReactFlow } from '@xyflow/react';
import { useId, useMemo } from 'react';
import { ADDRESSES } from '../../service/addresses.js';
import { nodesOf } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { KindIcon } from '../../drawing/kind-icon.js';
import { notesOf } from '../../drawing/notes.js';
import { startersOf, type Starter } from '../../drawing/starters.js';
import { ButtonLink } from '../../ui/button.js';
import { Alert, announce } from '../../ui/notices.js';
import type { Saver } from './saver.js';
import { ImportButton, ImportDialogs, useImport } from '../../parts/import.js';

/** Starters and import, shown on an empty canvas. */
export function StartRegion({ saver, onChat }: StartProps) {
  const { isReadOnly } = useStore();
  const isEmpty = useEditor(({ history: { present } }) => nodesOf(present).size + notesOf(present).size === 0);
  return isReadOnly || !isEmpty ? null : <Start saver={saver} onChat={onChat} />;
}

interface StartProps {
  saver: Saver;
  /** Shows or hides the chat preview. */
  onChat: (isOpen: boolean) => void;
}

function Start({ saver, onChat }: StartProps) {
  const store = useStore();
  const flow = useReactFlow();
  const id = useId();
  const importing = useImport(String(saver.getState().workflow.project));
  const starters = useMemo(() => startersOf(store.kinds), [store.kinds]);
  const start = ({ make, isChat }: Starter): void => {
    // If it fails, people can still offer the chat under `Starts by itself`.
    if (isChat) {
      onChat(true);
      saver.changeDetails({ is_chat: true }).catch(() => {
        onChat(false);
        announce('The workflow is not offered as a chat yet');
      });
    }
    const { drawing, chosen, needsModel } = make(store.drawing);
    // A chat that can already answer is tried in its preview.
    store.change(drawing, { select: isChat && !needsModel ? [] : [chosen] });
    void flow.fitView({ minZoom: 0.6, maxZoom: 1, padding: 0.15 });
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
      <div className="start-foot">
        <ButtonLink to={ADDRESSES.marketplace}>From the gallery</ButtonLink>
        <ImportButton isBusy={importing.isBusy} onFiles={importing.take} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      <ImportDialogs importing={importing} />
    </section>
  );
}
