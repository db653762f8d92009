import { SchemaSelect } from '../../forms/fields.js';
import type { SchemaFieldProps } from '../../forms/form.js';
import { FailedChoices } from '../../service/problem.js';
import { useProjectWorkflows } from '../../service/project-workflows.js';

/** Selects a workflow of the project by title. An unknown id remains selected and visible. */
export function WorkflowField({ projectId, ...field }: SchemaFieldProps & { projectId: number }) {
  const { path, value, onChange } = field;
  const query = useProjectWorkflows(projectId);
  const options = (query.data ?? []).map(({ id, title }) => ({ value: String(id), label: title }));
  const chosen = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return (
    <>
      <SchemaSelect
        field={field}
        value={chosen}
        options={chosen === '' ? [{ value: '', label: 'Choose…' }, ...options] : options}
        onChoose={(id) => onChange(path, id === '' ? undefined : Number(id))}
      />
      <FailedChoices noun="workflows" query={query} />
    </>
  );
}
