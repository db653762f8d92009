import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/fields.js';
import type { Importing } from './use-import.js';

export function ImportDialogs({ importing }: { importing: Importing }) {
  const { waiting, imported } = importing;
  if (waiting !== undefined) return <ProjectDialog importing={importing} waiting={waiting} />;
  return imported === undefined ? null : <RemarksDialog importing={importing} imported={imported} />;
}

interface ProjectDialogProps {
  importing: Importing;
  waiting: NonNullable<Importing['waiting']>;
}

function ProjectDialog({ importing, waiting: { name, projects } }: ProjectDialogProps) {
  const [project, setProject] = useState(String(projects[0]?.id ?? ''));
  return (
    <Dialog
      title="Import workflow"
      onClose={importing.close}
      footer={
        <Button variant="primary" onClick={() => importing.choose(project)}>
          Import
        </Button>
      }
    >
      <p>Which project should have the workflow of “{name}”?</p>
      <SelectField
        label="Project"
        value={project}
        options={projects.map(({ id, name: label }) => ({ value: String(id), label }))}
        onChange={setProject}
      />
    </Dialog>
  );
}

interface RemarksDialogProps {
  importing: Importing;
  imported: NonNullable<Importing['imported']>;
}

/** What was left out of the file, and what a person has to fill in. */
function RemarksDialog({ importing, imported: { title, warnings } }: RemarksDialogProps) {
  return (
    <Dialog
      title={`“${title}” was imported`}
      onClose={importing.close}
      isWide
      footer={
        <>
          <Button onClick={importing.close}>Stay here</Button>
          <Button variant="primary" onClick={importing.open}>
            Open workflow
          </Button>
        </>
      }
    >
      <p>Not everything could be taken over as it is in the file:</p>
      {/* A long list is scrolled with the keyboard, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="import-remarks" aria-label="Remarks" tabIndex={0}>
        {warnings.map(({ node, message }, index) => (
          // The list never changes.
          <li key={index}>
            <strong>{node ?? 'The whole file'}</strong>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
