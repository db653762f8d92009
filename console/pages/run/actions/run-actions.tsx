import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CompareDialog } from '../compare/compare-dialog.js';
import { useMayRun, type RunDetail } from '../run-data.js';
import { CancelDialog } from './cancel-dialog.js';
import { InputDialog } from './input-dialog.js';
import type { useReRun } from './use-re-run.js';

interface RunActionsProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  again: ReturnType<typeof useReRun>;
  onCompare: (otherId: string) => void;
}

type OpenDialog = 'cancel' | 'input' | 'compare';

/** What can be done with a run; who may only read can compare. */
export function RunActions({ run, labels, again, onCompare }: RunActionsProps) {
  const mayRun = useMayRun(run.project.id);
  const [open, setOpen] = useState<OpenDialog>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('compare')}>Compare</Button>
      {mayRun && run.status === 'In Progress' && (
        <Button variant="danger" onClick={() => setOpen('cancel')}>
          Cancel run
        </Button>
      )}
      {mayRun && <Button onClick={() => setOpen('input')}>Change input</Button>}
      {mayRun && (
        <Button variant="primary" isBusy={again.isPending} onClick={() => again.mutate({})}>
          Run again
        </Button>
      )}
      {open === 'cancel' && run.status === 'In Progress' && <CancelDialog run={run} onClose={close} />}
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
