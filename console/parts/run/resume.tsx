import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { resumeRun, type ResumeOptions } from '../../../clients/typescript/src/index.js';
import type { JsonObject } from '../../../graph/json.js';
import { api, ServiceError, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField, SelectField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import { Refused } from '../run-input/refused.js';
import { useNewRun } from './new-run.js';
import { DifferenceList } from '../differences/difference-list.js';
import { compareDrawings, type Difference } from '../differences/run-differences.js';
import { useMayRun, type RunDetail } from './run-data.js';

interface ResumeDialogProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  /** The node to start from. The default is all nodes that failed, were cancelled or never ran. */
  from?: { id: string; label: string };
  /** The drawing in the editor, which is saved before a run with it starts. The default is the stored drawing. */
  edited?: EditedDrawing;
  /** Called with the new run; its page opens by default. */
  onStarted?: OnStarted;
  onClose: () => void;
}

type ResumeWish = Pick<ResumeOptions, 'acceptUnknown' | 'drawing' | 'from'>;
type OnStarted = (runId: string, wish: ResumeWish) => void;

interface EditedDrawing {
  drawing: JsonObject;
  isDirty: boolean;
  /** Returns false if the drawing was not saved. */
  save: () => Promise<boolean>;
}

const DRAWINGS = [
  { value: 'then', label: 'As it was in this run' },
  { value: 'now', label: 'As it is now' },
];

export function ResumeDialog({ run, labels, from, edited, onStarted, onClose }: ResumeDialogProps) {
  const [chosen, setChosen] = useState<string>();
  const { changes, isSettled, problem } = useChangesSince(run, edited?.drawing);
  // A person who has fixed the drawing wants to run the fixed one.
  const drawing = chosen ?? (changes.length > 0 ? 'now' : 'then');
  const [acceptsUnknown, setAcceptsUnknown] = useState(false);
  const resume = useResume(run, edited, onStarted);
  const isUnknown = resume.error instanceof ServiceError && resume.error.code === 'outcome_unknown';
  const asksForUnknown = isUnknown || acceptsUnknown;
  const start = (): void => {
    const asked = {
      drawing: drawing === 'now' ? ('now' as const) : ('then' as const),
      acceptUnknown: acceptsUnknown,
      ...(from !== undefined && { from: [from.id] }),
    };
    resume.mutate(asked, { onSuccess: onClose });
  };
  return (
    <Dialog
      title={from === undefined ? 'Resume run' : `Resume from ${from.label}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isBusy={resume.isPending}
            onClick={start}
            disabled={(isUnknown && !acceptsUnknown) || (chosen === undefined && !isSettled)}
          >
            Start run
          </Button>
        </>
      }
    >
      <p>
        {from === undefined
          ? 'A new run executes what failed, was cancelled or never ran.'
          : 'A new run executes this node, all that follow it, and what has no result yet.'}{' '}
        All other results are taken over: nothing is executed or paid for them.
      </p>
      <SelectField
        label="Drawing"
        value={drawing}
        onChange={setChosen}
        options={DRAWINGS}
        hint={
          drawing === 'now' ? 'A result is taken over only where its node and all before it are unchanged.' : undefined
        }
      />
      {problem}
      {drawing === 'now' && edited?.isDirty === true && <Note>Your unsaved changes are saved first.</Note>}
      {changes.length > 0 && (
        <DifferenceList title="Changed since this run" differences={changes} sides={['This run', 'Now']} />
      )}
      {resume.isError && !isUnknown && <Refused error={resume.error} labels={labels} onRetry={start} />}
      {asksForUnknown && (
        <CheckboxField
          label="Repeat calls whose outcome is not known"
          hint="An earlier attempt sent a call and did not record its outcome: nobody knows whether it has done its work. Repeating it may do the work twice."
          isChecked={acceptsUnknown}
          onChange={setAcceptsUnknown}
        />
      )}
    </Dialog>
  );
}

interface ChangesSince {
  /** What affects a run and differs between the two drawings. Empty until loaded. */
  changes: readonly Difference[];
  /** False while the present drawing is loading, because the changes decide which drawing is preset. */
  isSettled: boolean;
  /** Says why the present drawing could not be loaded. */
  problem: ReactNode;
}

/** Compares the run's drawing with `edited`, by default the stored one. */
function useChangesSince(run: RunDetail, edited: JsonObject | undefined): ChangesSince {
  const { id } = run.workflow;
  const {
    data: stored,
    error,
    isFetching,
    refetch,
  } = useQuery({
    queryKey: ['workflow', id, 'present'],
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET('/api/v1/workflows/{id}/', { params: { path: { id } }, signal }))).data,
    enabled: edited === undefined,
    gcTime: 0,
  });
  const now = edited ?? stored;
  const changes = useMemo(() => (now === undefined ? [] : compareDrawings(run.data, now)), [run, now]);
  const problem = <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  return { changes, isSettled: now !== undefined || !isFetching, problem };
}

interface ResumeFromHereProps {
  run: RunDetail;
  nodeId: string;
  label: string;
  labels: ReadonlyMap<string, string>;
}

/** Shows the button only for nodes outside loops. */
export function ResumeFromHere({ run, nodeId, label, labels }: ResumeFromHereProps) {
  const mayRun = useMayRun(run.project.id);
  const [isOpen, setOpen] = useState(false);
  const isOutside = Object.hasOwn(run.result, nodeId);
  if (!mayRun || !isOutside || !mayResume(run)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resume from here</Button>
      {isOpen && <ResumeDialog run={run} labels={labels} from={{ id: nodeId, label }} onClose={() => setOpen(false)} />}
    </>
  );
}

/**
 * True if the run can be resumed: it has ended, was not refused at its start (`Draft`), and its results have not
 * expired. The service refuses to resume test runs and answers of the assistant.
 */
export function mayResume({ status, purpose, results_expired_at: expiredAt }: RunDetail): boolean {
  return purpose === 'run' && status !== 'In Progress' && status !== 'Draft' && expiredAt === undefined;
}

/** True if the run failed or was cancelled. */
export function isUnfinished({ status }: RunDetail): boolean {
  return status === 'Error' || status === 'Cancelled';
}

/** Starts a run that reuses this run's results. */
function useResume(run: RunDetail, edited: EditedDrawing | undefined, onStarted?: OnStarted) {
  return useNewRun(async (options: ResumeWish, idempotencyKey) => {
    if (options.drawing === 'now' && (await edited?.save()) === false) return undefined;
    return resumeRun(api, run.workflow.id, run.id, { ...options, idempotencyKey });
  }, onStarted);
}
