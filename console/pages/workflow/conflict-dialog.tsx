import { useSyncExternalStore } from 'react';
import { differencesOf } from '../../drawing/differences.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import type { Saver } from './saver.js';
import type { WorkflowRecord } from './workflow-record.js';

interface ConflictDialogProps {
  saver: Saver;
  theirs: WorkflowRecord;
}

/** Somebody else has saved since this page read the workflow: nothing is lost without a decision. */
export function ConflictDialog({ saver, theirs }: ConflictDialogProps) {
  const { kinds } = useStore();
  const mine = useEditor(({ history }) => history.present);
  const isSaving = useSyncExternalStore(saver.subscribe, () => saver.getState().isSaving);
  const differences = differencesOf(mine, theirs.workflow.data, kinds);
  return (
    <Dialog
      title="Changed meanwhile"
      isWide
      onClose={saver.decideLater}
      footer={
        <>
          <Button onClick={saver.takeTheirs}>Take theirs</Button>
          <Button variant="primary" isBusy={isSaving} onClick={() => void saver.keepMine()}>
            Keep mine
          </Button>
        </>
      }
    >
      <p>
        Somebody else has saved this workflow since you opened it. <strong>Keep mine</strong> saves your drawing over
        theirs, which stays among the versions. <strong>Take theirs</strong> shows their drawing; Undo brings yours
        back.
      </p>
      {differences.length === 0 && <p>Both drawings are the same: only other details were changed.</p>}
      <ul aria-label="Differences">
        {differences.map(({ subject, mine: left, theirs: right }, at) => (
          <li key={at} className="difference">
            <strong>{subject}</strong>
            <div className="difference-sides">
              <Side heading="Mine" text={left} />
              <Side heading="Theirs" text={right} />
            </div>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Side({ heading, text }: { heading: string; text: string | undefined }) {
  return (
    <div className="difference-side">
      <span className="field-hint">{heading}: </span>
      {text ?? 'nothing'}
    </div>
  );
}
