import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { SelectField } from '../../../ui/fields.js';
import { formatBytes } from '../../../ui/format.js';
import { Menu } from '../../../ui/menu.js';
import { mayAct, type Project } from '../use-projects.js';
import { DeleteProject } from './delete-project.js';
import { NameProject } from './name-project.js';

interface ProjectBarProps {
  projects: readonly Project[];
  project: Project | undefined;
  onChoose: (projectId: number) => void;
}

/** The project whose members, keys and webhooks the tabs are about. */
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
        {dialog === 'delete' && project !== undefined && <DeleteProject project={project} onClose={close} />}
      </div>
      {project !== undefined && (
        <p className="settings-lead">
          The project stores {formatBytes(project.stored_bytes)}: its drawings with their versions, its runs and their
          results.
        </p>
      )}
    </>
  );
}
