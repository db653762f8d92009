import { useState } from 'react';
import { ServiceError } from '../../../app/api.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { CheckboxField, SelectField } from '../../../ui/fields.js';
import type { RunDetail } from '../run-data.js';
import { Refused } from './refused.js';
import { useResume } from './use-resume.js';

interface ResumeDialogProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  /** The node that begins anew; without it, what failed, was cancelled or never ran. */
  from?: { id: string; label: string };
  onClose: () => void;
}

const DRAWINGS = [
  { value: 'then', label: 'As it was in this run' },
  { value: 'now', label: 'As it is now' },
];

export function ResumeDialog({ run, labels, from, onClose }: ResumeDialogProps) {
  const [drawing, setDrawing] = useState('then');
  const [acceptsUnknown, setAcceptsUnknown] = useState(false);
  const resume = useResume(run);
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
            {...(isUnknown && !acceptsUnknown && { disabled: true })}
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
        onChange={setDrawing}
        options={DRAWINGS}
        hint={
          drawing === 'now' ? 'A result is taken over only where its node and all before it are unchanged.' : undefined
        }
      />
      {resume.isError && !isUnknown && <Refused error={resume.error} labels={labels} onRetry={start} />}
      {asksForUnknown && (
        <CheckboxField
          label="Repeat calls whose outcome is not known"
          hint="A call was on its way when its worker died: nobody knows whether it has done its work. Repeating it may do the work twice."
          isChecked={acceptsUnknown}
          onChange={setAcceptsUnknown}
        />
      )}
    </Dialog>
  );
}
