import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CompareDialog } from '../compare/compare-dialog.js';
import { useMayRun, type RunDetail } from '../run-data.js';
import { InputDialog } from './input-dialog.js';
import { isUnfinished, mayResume } from './resumable.js';
import { ResumeDialog } from './resume-dialog.js';
import type { useCancel } from './use-cancel.js';
import type { useReRun } from './use-re-run.js';

interface RunActionsProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  again: ReturnType<typeof useReRun>;
  cancel: ReturnType<typeof useCancel>;
  onCompare: (otherId: string) => void;
}

type OpenDialog = 'input' | 'compare' | 'resume';

/** What can be done with a run; who may only read can compare. */
export function RunActions({ run, labels, again, cancel, onCompare }: RunActionsProps) {
  const mayRun = useMayRun(run.project.id);
  const [open, setOpen] = useState<OpenDialog>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('compare')}>Compare</Button>
      {mayRun && run.status === 'In Progress' && (
        // Busy until the run has ended, too: a second click would be refused.
        <Button variant="danger" isBusy={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
          Cancel run
        </Button>
      )}
      {mayRun && mayResume(run) && isUnfinished(run) && <Button onClick={() => setOpen('resume')}>Resume</Button>}
      {mayRun && <Button onClick={() => setOpen('input')}>Change input</Button>}
      {mayRun && (
        <Button variant="primary" isBusy={again.isPending} onClick={() => again.mutate({})}>
          Run again
        </Button>
      )}
      {open === 'resume' && <ResumeDialog run={run} labels={labels} onClose={close} />}
      {open === 'input' && <InputDialog run={run} labels={labels} onClose={close} />}
      {open === 'compare' && (
        <CompareDialog
          run={run}
          onClose={close}
          onChoose={(otherId) => {
            close();
            onCompare(otherId);
          }}
        />
      )}
    </>
  );
}
