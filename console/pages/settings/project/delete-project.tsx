import { api, unwrap } from '../../../app/api.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import type { Project } from '../use-projects.js';

export function DeleteProject({ project, onClose }: { project: Project; onClose: () => void }) {
  const change = useChange(
    () => unwrap(api.DELETE('/api/v1/projects/{id}/', { params: { path: { id: project.id } } })),
    { invalidates: ['projects', 'workflows', 'runs'], said: 'The project is deleted.', onSuccess: onClose },
  );
  return (
    <ConfirmDialog
      title="Delete project"
      confirmLabel="Delete"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>
        <strong>{project.name}</strong> and its workflows go away for all members, and its open runs are cancelled. What
        has been run and paid stays in the books.
      </p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
