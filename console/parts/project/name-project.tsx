import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { changeProject, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';

interface NameProjectProps {
  /** The project to rename; a new one by default. */
  project?: Project;
  onClose: () => void;
  onNamed?: (projectId: number) => void;
}

/** Creates a project, or renames one. */
export function NameProject({ project, onClose, onNamed }: NameProjectProps) {
  const [name, setName] = useState(project?.name ?? '');
  const change = useChange(() => save(project, name), {
    invalidates: ['projects'],
    announcement: project === undefined ? 'The project is made.' : 'The project is renamed.',
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
      holdsText
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
        onKeyDown={({ key, nativeEvent }) => key === 'Enter' && !nativeEvent.isComposing && submit()}
        isRequired
      />
    </Dialog>
  );
}

function save(project: Project | undefined, name: string): Promise<Project> {
  if (project === undefined) return unwrap(api.POST('/api/v1/projects/', { body: { name } }));
  return changeProject(project.id, { name });
}
