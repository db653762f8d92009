import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import type { Project } from '../use-projects.js';
import { removeMember } from './use-members.js';

interface LeaveProjectProps {
  project: Project;
  /** Of the person at the page. */
  userId: number;
  onClose: () => void;
}

export function LeaveProject({ project, userId, onClose }: LeaveProjectProps) {
  const change = useChange(() => removeMember(project.id, userId), {
    invalidates: ['projects', 'workflows', 'runs', 'approvals'],
    said: 'You have left the project.',
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      title="Leave project"
      confirmLabel="Leave"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>
        You no longer see <strong>{project.name}</strong> and its workflows. Only its admins and owners can add you
        again.
      </p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
