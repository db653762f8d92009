import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { mayAct, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { formatBytes } from '../../ui/format.js';
import { Menu } from '../../ui/menu.js';

interface ProjectBarProps {
  projects: readonly Project[];
  project: Project | undefined;
  onChoose: (projectId: number) => void;
}

/** Selects the project to which the tabs apply. */
export function ProjectBar({ projects, project, onChoose }: ProjectBarProps) {
  const [dialog, setDialog] = useState<'new' | 'rename' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
    <>
      <div className="settings-project">
        {project !== undefined && (
          <SelectField
            label="Project"
            value={String(project.id)}
            onChange={(id) => onChoose(Number(id))}
            options={projects.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
        {project !== undefined && mayAct(project.role, 'admin') && (
          <Menu
            label="Change project"
            items={[
              { label: 'Rename', onSelect: () => setDialog('rename') },
              ...(project.role === 'owner'
                ? [{ label: 'Delete', onSelect: () => setDialog('delete'), isDangerous: true }]
                : []),
            ]}
          />
        )}
        <Button onClick={() => setDialog('new')}>New project</Button>
        {dialog === 'new' && <NameProject onClose={close} onNamed={onChoose} />}
        {dialog === 'rename' && project !== undefined && <NameProject project={project} onClose={close} />}
        {dialog === 'delete' && project !== undefined && (
          <ConfirmDelete
            noun="project"
            remove={() => unwrap(api.DELETE('/api/v1/projects/{id}/', { params: { path: { id: project.id } } }))}
            invalidates={['projects', 'workflows', 'runs']}
            onClose={close}
          >
            <strong>{project.name}</strong> and its workflows go away for all members, and its open runs are cancelled.
            What has been run and paid stays in the books.
          </ConfirmDelete>
        )}
      </div>
      {project !== undefined && (
        <p className="settings-lead">
          The project stores {formatBytes(project.stored_bytes)}: its drawings with their versions, its runs with their
          results, and its files.
        </p>
      )}
    </>
  );
}

interface NameProjectProps {
  /** The project to rename; a new one by default. */
  project?: Project;
  onClose: () => void;
  onNamed?: (projectId: number) => void;
}

function NameProject({ project, onClose, onNamed }: NameProjectProps) {
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
