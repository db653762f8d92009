import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { deleteSchedule, type Schedule } from './use-schedules.js';

interface DeleteScheduleProps {
  workflowId: number;
  of: Schedule;
  onClose: () => void;
}

export function DeleteSchedule({ workflowId, of, onClose }: DeleteScheduleProps) {
  const change = useChange(() => deleteSchedule(workflowId, of.id), {
    invalidates: ['schedules'],
    said: 'The schedule is deleted.',
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      title="Delete schedule"
      confirmLabel="Delete"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>It starts no runs from then on. Runs that it has started go on.</p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
