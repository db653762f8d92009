import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { mayAct, type Project } from '../../service/projects.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/fields.js';
import { Menu } from '../../ui/menu.js';
import { NameProject } from '../../parts/project/name-project.js';

interface ProjectBarProps {
  projects: readonly Project[];
  project: Project | undefined;
  onChoose: (projectId: number) => void;
}

/** Selects the project to which the tabs of the group `Project` apply. Also creates, renames and deletes projects. */
export function ProjectBar({ projects, project, onChoose }: ProjectBarProps) {
  const [dialog, setDialog] = useState<'new' | 'rename' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
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
        >
          <span aria-hidden="true" title="Change project">
            ⋯
          </span>
        </Menu>
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
  );
}
