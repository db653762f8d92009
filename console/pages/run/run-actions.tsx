import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Loading } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { Pager } from '../../ui/table.js';
import { SaveAsCase } from '../../parts/cases/save-as-case.js';
import type { useCancel } from '../../parts/run/cancel.js';
import { InputDialog, type useReRun } from './re-run.js';
import { isUnfinished, mayResume, ResumeDialog } from '../../parts/run/resume.js';
import './run-actions.css';
import { useMayRun, type RunDetail } from '../../parts/run/run-data.js';
import { runWord } from '../../live/run-word.js';

interface RunActionsProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  again: ReturnType<typeof useReRun>;
  cancel: ReturnType<typeof useCancel>;
  onCompare: (otherId: string) => void;
}

type OpenDialog = 'input' | 'compare' | 'resume';

/** The actions that the person may take on the run. Viewers can only compare. */
export function RunActions({ run, labels, again, cancel, onCompare }: RunActionsProps) {
  const mayRun = useMayRun(run.project.id);
  // The service repeats neither test runs nor answers of the assistant. It makes cases of test runs, not of answers.
  const mayRepeat = mayRun && run.purpose === 'run';
  const [open, setOpen] = useState<OpenDialog>();
  const close = (): void => setOpen(undefined);
  // People mostly want to resume a failed or cancelled run, and to repeat any other ended run. A run in progress has no
  // primary action, nor has a refused run (`Draft`): the service refuses it again unless the workflow has changed.
  const isToResume = mayRun && mayResume(run) && isUnfinished(run);
  const isToRepeat = !isToResume && run.status !== 'In Progress' && run.status !== 'Draft';
  return (
    <>
      <Button onClick={() => setOpen('compare')}>Compare</Button>
      {mayRun && run.status === 'In Progress' && (
        // Stays busy until the run has ended, because a second request would have no further effect.
        <Button variant="danger" isBusy={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
          Cancel run
        </Button>
      )}
      {mayRepeat && <Button onClick={() => setOpen('input')}>Change input</Button>}
      {mayRepeat && (
        <Button variant={isToRepeat ? 'primary' : 'plain'} isBusy={again.isPending} onClick={() => again.mutate({})}>
          Run again
        </Button>
      )}
      {isToResume && (
        <Button variant="primary" onClick={() => setOpen('resume')}>
          Resume
        </Button>
      )}
      {mayRun && run.purpose !== 'assistant' && <SaveAsCase run={run} />}
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

interface CompareDialogProps {
  run: RunDetail;
  onChoose: (otherId: string) => void;
  onClose: () => void;
}

const SIZE = 10;

/** Lets the person choose another run of the same workflow. */
function CompareDialog({ run, onChoose, onClose }: CompareDialogProps) {
  const [page, setPage] = useState(1);
  const query = { workflow: run.workflow.id, page, size: SIZE };
  const runs = useQuery({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/runs/', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const others = runs.data?.items.filter(({ id }) => id !== run.id) ?? [];
  return (
    <Dialog title="Compare runs" onClose={onClose}>
      <p>Choose the run of {run.workflow.title} to compare with:</p>
      {runs.isPending && <Loading />}
      <Problem error={runs.error} onRetry={() => void runs.refetch()} isRetrying={runs.isFetching} />
      {runs.data !== undefined && others.length === 0 && <p>There is no other run of this workflow here.</p>}
      <ul className="compare-runs" aria-label="Runs to compare with">
        {others.map((other) => (
          <li key={other.id}>
            <button type="button" className="compare-run" onClick={() => onChoose(other.id)}>
              <Time at={other.run_started_at ?? other.created_at} />
              <Status status={runWord(other)} />
              <Duration ms={other.duration === null ? null : other.duration * 1000} />
              <Money amount={other.cost} />
              <span className="compare-run-version">Version {other.workflow_version}</span>
            </button>
          </li>
        ))}
      </ul>
      {runs.data !== undefined && <Pager page={page} size={SIZE} total={runs.data.total} onPage={setPage} />}
    </Dialog>
  );
}
