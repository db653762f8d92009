import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../app/api.js';
import { FailedChoices } from '../../app/problem.js';
import { readAllPages } from '../../app/calls.js';
import type { SchemaFieldProps } from '../../forms/form.js';
import { SchemaSelect } from '../../forms/fields.js';

/** The `format` of fields whose value is the id of a workflow of the same project. */
export const WORKFLOW_ID = 'workflow-id';

/** The workflows of the project by their titles. An id that is none of them is kept, and shown. */
export function WorkflowField({ projectId, ...field }: SchemaFieldProps & { projectId: number }) {
  const { path, value, onChange } = field;
  const query = useQuery({
    queryKey: ['workflows', 'of-project', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) => {
        const given = { project: projectId, page, size: 100 };
        return unwrap(api.GET('/api/v1/all-workflows/', { params: { query: given }, signal }));
      }),
    staleTime: 30_000,
  });
  const titles = (query.data ?? []).map(({ id, title }) => ({ value: String(id), label: title }));
  const options = titles.toSorted((one, other) => one.label.localeCompare(other.label));
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
