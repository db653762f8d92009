import { useState } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/fields.js';
import type { Project } from '../use-projects.js';

interface NameProjectProps {
  /** The one that gets another name; without it a new one is made. */
  project?: Project;
  onClose: () => void;
  onNamed?: (projectId: number) => void;
}

export function NameProject({ project, onClose, onNamed }: NameProjectProps) {
  const [name, setName] = useState(project?.name ?? '');
  const change = useChange(() => save(project, name), {
    invalidates: ['projects'],
    said: project === undefined ? 'The project is made.' : 'The project is renamed.',
    onSuccess: ({ id }) => {
      onNamed?.(id);
      onClose();
    },
  });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  return (
    <Dialog
      title={project === undefined ? 'New project' : 'Rename project'}
      onClose={onClose}
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          {project === undefined ? 'Create' : 'Rename'}
        </Button>
      }
    >
      <Problem error={change.error} fields={['name']} />
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={255}
        error={fieldErrors(change.error)['name']}
        onKeyDown={({ key }) => key === 'Enter' && submit()}
        isRequired
      />
    </Dialog>
  );
}

function save(project: Project | undefined, name: string): Promise<Project> {
  if (project === undefined) return unwrap(api.POST('/api/v1/projects/', { body: { name } }));
  return unwrap(api.PATCH('/api/v1/projects/{id}/', { params: { path: { id: project.id } }, body: { name } }));
}
