import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { fieldErrors } from '../../service/explain.js';
import { ErrorBoundary, Problem } from '../../service/problem.js';
import { submitHandler } from '../../service/queries.js';
import { differencesOf } from '../../drawing/differences.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { useStored } from '../../ui/store.js';
import { DeleteWorkflow, DuplicateWorkflow } from '../../parts/workflow/change-dialogs.js';
import { AnswerDialog } from './answer-dialog.js';
import { KeysDialog } from './keys-dialog.js';
import { RunDialog } from './run-dialog.js';
import { VersionsDialog } from './versions-dialog.js';
import { saveFirst, type Saver, type WorkflowRecord } from './saver.js';

const PublishDialog = lazy(() => import('./publish-dialog.js').then((part) => ({ default: part.PublishDialog })));

export type OpenDialog =
  | 'run'
  | 'keys'
  | 'versions'
  | 'publish'
  | 'rename'
  | 'limit'
  | 'answer'
  | 'duplicate'
  | 'delete';

interface EditorDialogsProps {
  saver: Saver;
  open: OpenDialog | undefined;
  onClose: () => void;
}

/** Renders a conflict above the open dialog, so that the dialog keeps what the person has typed. */
export function EditorDialogs(props: EditorDialogsProps) {
  const { saver } = props;
  const conflict = useStored(saver, (state) => state.conflict);
  return (
    <>
      <Chosen {...props} />
      {conflict !== undefined && <ConflictDialog saver={saver} theirs={conflict} />}
    </>
  );
}

/** Renders the dialog that the person has opened. */
function Chosen({ saver, open, onClose }: EditorDialogsProps) {
  const props = { saver, onClose };
  switch (open) {
    case 'run':
      return <RunDialog {...props} />;
    case 'keys':
      return <KeysDialog onClose={onClose} />;
    case 'versions':
      return <VersionsDialog {...props} />;
    case 'publish':
      return (
        <ErrorBoundary>
          <Suspense>
            <PublishDialog {...props} />
          </Suspense>
        </ErrorBoundary>
      );
    case 'rename':
      return <RenameDialog {...props} />;
    case 'limit':
      return <RunLimitDialog {...props} />;
    case 'answer':
      return <AnswerDialog {...props} />;
    case 'duplicate':
      return <DuplicateDialog {...props} />;
    case 'delete':
      return <DeleteDialog {...props} />;
    case undefined:
    default:
      return null;
  }
}

interface ConflictDialogProps {
  saver: Saver;
  theirs: WorkflowRecord;
}

/** Shown if somebody else saved the workflow after this page read it. The person decides, so that no work is lost. */
function ConflictDialog({ saver, theirs }: ConflictDialogProps) {
  const { kinds } = useStore();
  const mine = useEditor(({ history }) => history.present);
  const isSaving = useStored(saver, (state) => state.isSaving);
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

function RenameDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const [title, setTitle] = useState(saver.getState().workflow.title);
  const queries = useQueryClient();
  const rename = useMutation({
    mutationFn: async () => {
      await saver.changeDetails({ title: title.trim() });
      void queries.invalidateQueries({ queryKey: ['workflows'] });
      onClose();
    },
  });
  const { title: titleError } = fieldErrors(rename.error);
  return (
    <Dialog title="Rename workflow" holdsText onClose={onClose}>
      <form className="node-form" onSubmit={submitHandler(rename)}>
        <TextField label="Title" value={title} onChange={setTitle} isRequired maxLength={255} error={titleError} />
        <Problem error={rename.error} fields={['title']} />
        <Button type="submit" variant="primary" isBusy={rename.isPending}>
          Rename
        </Button>
      </form>
    </Dialog>
  );
}

function RunLimitDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const [amount, setAmount] = useState(saver.getState().workflow.max_run_cost ?? '');
  const change = useMutation({
    mutationFn: async () => {
      await saver.changeDetails({ max_run_cost: amount.trim() === '' ? null : amount.trim() });
      onClose();
    },
  });
  const { max_run_cost: amountError } = fieldErrors(change.error);
  return (
    <Dialog title="Limit the cost of runs" holdsText onClose={onClose}>
      <form className="node-form" onSubmit={submitHandler(change)}>
        <TextField
          label="Most that a run may cost, in USD"
          hint="The runs that it starts count too. Empty: no limit."
          value={amount}
          onChange={setAmount}
          inputMode="decimal"
          error={amountError}
        />
        <Problem error={change.error} fields={['max_run_cost']} />
        <Button type="submit" variant="primary" isBusy={change.isPending}>
          Save
        </Button>
      </form>
    </Dialog>
  );
}

function DuplicateDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const isDirty = useEditor((state) => state.isDirty);
  return (
    <DuplicateWorkflow workflow={saver.getState().workflow} prepare={() => saveFirst(saver)} onClose={onClose}>
      {isDirty && ' Your unsaved changes are saved first.'}
    </DuplicateWorkflow>
  );
}

function DeleteDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const store = useStore();
  const [, navigate] = useLocation();
  const leave = (): void => {
    // The person deleted the unsaved changes on purpose, so leaving must not ask.
    store.takeOver(store.drawing);
    setTimeout(() => navigate('/workflows'));
  };
  return <DeleteWorkflow workflow={saver.getState().workflow} onDeleted={leave} onClose={onClose} />;
}
