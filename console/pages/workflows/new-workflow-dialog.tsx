import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { explain, fieldErrors } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import { useAction } from '../workflow/use-action.js';
import { createWorkflow } from './create-workflow.js';
import { EMPTY, readTemplates } from './templates.js';
import { isWritable, projectToWriteTo, useProjects } from './use-projects.js';

interface NewWorkflowDialogProps {
  /** The id of the project that the list shows; empty: all. */
  project: string;
  onClose: () => void;
}

const FIELDS = ['title', 'project'];

export function NewWorkflowDialog({ project, onClose }: NewWorkflowDialogProps) {
  const [title, setTitle] = useState('');
  const [chosenProject, setChosenProject] = useState<string>();
  const [chosenTemplate, setChosenTemplate] = useState('');
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const projects = (useProjects().data ?? []).filter(isWritable);
  const found = useQuery({ queryKey: ['workflows', 'templates'], queryFn: readTemplates });
  const { data: templates = [] } = found;
  const options = projects.map(({ id, name }) => ({ value: String(id), label: name }));
  const preset = options.some(({ value }) => value === project) ? project : (options[0]?.value ?? '');
  const create = useAction(async () => {
    const template = templates.find(({ key }) => key === chosenTemplate) ?? EMPTY;
    const data = await template.read();
    const id = await createWorkflow(await projectToWriteTo(chosenProject ?? preset), title.trim(), data);
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    void queries.invalidateQueries({ queryKey: ['projects'] });
    navigate(`/workflows/${id}`);
  });
  const errors = fieldErrors(create.error);
  // What is wrong with the drawing of a template has no field here.
  const isSaidBeside = Object.keys(errors).length > 0 && Object.keys(errors).every((name) => FIELDS.includes(name));
  return (
    <Dialog title="New workflow" onClose={onClose}>
      <form
        className="new-workflow"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <TextField label="Title" value={title} onChange={setTitle} isRequired maxLength={255} error={errors['title']} />
        <SelectField
          label="Project"
          value={chosenProject ?? preset}
          options={options.length === 0 ? [{ value: '', label: 'My workflows (a new project)' }] : options}
          onChange={setChosenProject}
          error={errors['project']}
        />
        <SelectField
          label="Start from"
          value={chosenTemplate}
          options={[EMPTY, ...templates].map(({ key, label }) => ({ value: key, label }))}
          onChange={setChosenTemplate}
        />
        {found.isError && (
          <Alert onRetry={() => void found.refetch()} isRetrying={found.isFetching}>
            There is only an empty drawing to start from. {explain(found.error)}
          </Alert>
        )}
        {create.error !== undefined && !isSaidBeside && <Alert>{explain(create.error)}</Alert>}
        <Button type="submit" variant="primary" isBusy={create.isRunning}>
          Create
        </Button>
      </form>
    </Dialog>
  );
}
