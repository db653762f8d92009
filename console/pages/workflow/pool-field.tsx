import { SchemaSelect } from '../../forms/fields.js';
import type { SchemaFieldProps } from '../../forms/form.js';
import { FailedChoices } from '../../service/problem.js';
import { useProjects } from '../../service/projects.js';

/** Selects a pool of the project. Hidden if the project has only one pool and the node names none. */
export function PoolField({ projectId, ...field }: SchemaFieldProps & { projectId: number }) {
  const { path, value, onChange } = field;
  const query = useProjects();
  const project = query.data?.find(({ id }) => id === projectId);
  const own = project?.pool ?? 'default';
  const chosen = typeof value === 'string' ? value : '';
  const others = (project?.pools ?? []).filter((pool) => pool !== own);
  if (others.length === 0 && chosen === '') return null;
  const options = [own, ...others].map((pool) => ({ value: pool, label: pool }));
  return (
    <>
      <SchemaSelect
        field={field}
        value={chosen}
        options={[{ value: '', label: `The pool of the project (${own})` }, ...options]}
        onChoose={(pool) => onChange(path, pool === '' ? undefined : pool)}
      />
      <FailedChoices noun="pools" query={query} />
    </>
  );
}
