import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { deleteHook, type Hook } from './use-hooks.js';

interface DeleteHookProps {
  workflowId: number;
  of: Hook;
  onClose: () => void;
}

export function DeleteHook({ workflowId, of, onClose }: DeleteHookProps) {
  const change = useChange(() => deleteHook(workflowId, of.id), {
    invalidates: ['hooks'],
    said: 'The hook is deleted.',
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      title="Delete hook"
      confirmLabel="Delete"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>
        The URL of hook {of.id} is unknown from then on, and what is sent to it is lost. It never comes back: a new hook
        has another URL.
      </p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
