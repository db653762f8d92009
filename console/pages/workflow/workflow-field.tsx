import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../app/api.js';
import { FailedChoices } from '../../app/failed-choices.js';
import { readAllPages } from '../../app/read-all-pages.js';
import type { SchemaFieldProps } from '../../forms/field-props.js';
import { useFieldError } from '../../forms/form-context.js';
import { descriptionOf } from '../../forms/schema.js';
import { SelectField } from '../../ui/select-field.js';

/** The `format` of fields whose value is the id of a workflow of the same project. */
export const WORKFLOW_ID = 'workflow-id';

/** The workflows of the project by their titles. An id that is none of them is kept, and shown. */
export function WorkflowField({ projectId, ...props }: SchemaFieldProps & { projectId: number }) {
  const { schema, path, label, value, isRequired = false, onChange } = props;
  const error = useFieldError(path);
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
    <div data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
        value={chosen}
        options={chosen === '' ? [{ value: '', label: 'Choose…' }, ...options] : options}
        onChange={(id) => onChange(path, id === '' ? undefined : Number(id))}
      />
      <FailedChoices noun="workflows" query={query} />
    </div>
  );
}
