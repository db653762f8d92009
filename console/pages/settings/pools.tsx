import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { changeProject, type Project } from '../../service/projects.js';
import { useChange, submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Table, type Column } from '../../ui/table.js';
import { toPoolBody, toPoolFields } from './pool-fields.js';

/** Only administrators of the service see this tab. */
export function PoolsTab({ project }: { project: Project }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['pools'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/pools/', { signal })),
    refetchInterval: 5_000,
  });
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Workers of the project&rsquo;s pool execute its nodes. Nodes may name one of the other pools in their settings.
      </p>
      <PoolsForm project={project} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table
          label="Pools"
          hasCards
          columns={COLUMNS}
          rows={data}
          keyOf={({ name }) => name}
          empty="There are no pools."
        />
      )}
    </div>
  );
}

function PoolsForm({ project }: { project: Project }) {
  // The form began with these values, or last saved them. `project` may be newer.
  const [before, setBefore] = useState(() => toPoolFields(project));
  const [fields, setFields] = useState(before);
  const body = toPoolBody(before, fields);
  // The service refuses an empty change of an administrator whose role in the project is below admin.
  const save = (): Promise<Project> =>
    Object.keys(body).length === 0 ? Promise.resolve(project) : changeProject(project.id, body);
  const change = useChange(save, {
    invalidates: ['projects', 'pools'],
    announcement: 'The pools are saved.',
    onSuccess: (saved) => setBefore(toPoolFields(saved)),
  });
  const errors = fieldErrors(change.error);
  return (
    <form className="settings-form" noValidate onSubmit={submitHandler(change)}>
      <Problem error={change.error} fields={['pool', 'pools']} />
      <div className="settings-row">
        <TextField
          label="Pool"
          hint="Empty: the pool default. Small letters, digits and hyphens."
          autoComplete="off"
          spellCheck={false}
          maxLength={40}
          value={fields.pool}
          onChange={(pool) => setFields({ ...fields, pool })}
          error={errors['pool']}
        />
        <TextField
          label="Other pools"
          hint="Names, separated by commas."
          autoComplete="off"
          spellCheck={false}
          value={fields.others}
          onChange={(others) => setFields({ ...fields, others })}
          error={errors['pools']}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

type Pool = paths['/api/v1/pools/']['get']['responses']['200']['content']['application/json'][number];

const COLUMNS: Column<Pool>[] = [
  { heading: 'Name', cell: ({ name }) => name, isName: true },
  { heading: 'Workers', isFigure: true, cell: ({ workers }) => workers },
  { heading: 'Builds', cell: ({ build_ids: builds }) => builds.join(', ') || '–' },
  { heading: 'Waiting', isFigure: true, cell: ({ backlog }) => backlog },
  {
    heading: 'Longest',
    isFigure: true,
    cell: ({ backlog, oldest_seconds: seconds }) => (backlog === 0 ? '–' : `${Math.round(seconds)} s`),
  },
];
