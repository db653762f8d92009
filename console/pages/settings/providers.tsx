import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { mayAct, type Project } from '../../service/projects.js';
import { useChange, submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { Table, type Column } from '../../ui/table.js';

export function ProvidersTab({ project }: { project: Project }) {
  const [doomed, setDoomed] = useState<ProviderKey>();
  if (!mayAct(project.role, 'admin')) {
    return (
      <div className="settings-tab">
        <Note>Your role in this project is {project.role}. Its admins and owners change the provider keys.</Note>
        <ProviderKeys projectId={project.id} />
      </div>
    );
  }
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        The project&rsquo;s runs call models with its own keys. The newest key of a provider is used; without one, that
        of the platform.
      </p>
      <AddProviderKey projectId={project.id} />
      <ProviderKeys projectId={project.id} onDelete={setDoomed} />
      {doomed !== undefined && (
        <ConfirmDelete
          noun="provider key"
          remove={() => deleteProviderKey(project.id, doomed.id)}
          invalidates={['provider-keys', 'projects']}
          onClose={() => setDoomed(undefined)}
        >
          Later calls of <strong>{doomed.provider}</strong> use an older key of the project, or that of the platform.
        </ConfirmDelete>
      )}
    </div>
  );
}

interface ProviderKeysProps {
  projectId: number;
  /** Undefined if the person may not delete keys. */
  onDelete?: (key: ProviderKey) => void;
}

function ProviderKeys({ projectId, onDelete }: ProviderKeysProps) {
  const { data, error, refetch, isFetching } = useProviderKeys(projectId);
  return (
    <>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table
          label="Provider keys"
          hasCards
          columns={columnsOf(onDelete)}
          rows={data}
          keyOf={({ id }) => id}
          empty="The project has no keys of its own: its runs use those of the platform."
        />
      )}
    </>
  );
}

const FACTS: Column<ProviderKey>[] = [
  { heading: 'Provider', cell: ({ provider }) => provider, isName: true },
  { heading: 'Name', cell: ({ name }) => name || '–' },
  { heading: 'Key', cell: (key) => <code>{key.masked_key}</code> },
  { heading: 'Added', cell: (key) => <Time at={key.created_at} /> },
];

function columnsOf(onDelete: ProviderKeysProps['onDelete']): Column<ProviderKey>[] {
  if (onDelete === undefined) return FACTS;
  return [
    ...FACTS,
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (key) => (
        <Button variant="quiet" onClick={() => onDelete(key)}>
          Delete
        </Button>
      ),
    },
  ];
}

const NOTHING = { provider: '', key: '', name: '' };

function AddProviderKey({ projectId }: { projectId: number }) {
  const [fields, setFields] = useState(NOTHING);
  const change = useChange(() => addProviderKey(projectId, fields), {
    invalidates: ['provider-keys', 'projects'],
    announcement: 'The provider key is added.',
    onSuccess: () => setFields(NOTHING),
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<typeof NOTHING>): void => setFields({ ...fields, ...changed });
  return (
    <form className="settings-form" noValidate onSubmit={submitHandler(change)}>
      <Problem error={change.error} fields={['provider', 'key', 'name']} />
      <div className="settings-row">
        <TextField
          label="Provider"
          hint="As the operator has named it."
          autoComplete="off"
          value={fields.provider}
          onChange={(provider) => set({ provider })}
          error={errors['provider']}
          maxLength={100}
          isRequired
        />
        <TextField
          label="Key"
          hint="Never shown again."
          type="password"
          autoComplete="new-password"
          value={fields.key}
          onChange={(key) => set({ key })}
          error={errors['key']}
          isRequired
        />
        <TextField
          label="Name"
          hint="For people; may be empty."
          autoComplete="off"
          value={fields.name}
          onChange={(name) => set({ name })}
          error={errors['name']}
          maxLength={100}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Add provider key
        </Button>
      </div>
    </form>
  );
}

type List = paths['/api/v1/projects/{id}/provider-keys/']['get']['responses'][200]['content']['application/json'];
type ProviderKey = List['items'][number];

const KEYS = '/api/v1/projects/{id}/provider-keys/';

/** A project has at most 100 provider keys. */
function useProviderKeys(projectId: number): UseQueryResult<ProviderKey[]> {
  return useQuery({
    queryKey: ['provider-keys', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(KEYS, { params: { path: { id: projectId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

function addProviderKey(projectId: number, body: { provider: string; key: string; name: string }) {
  return unwrap(api.POST(KEYS, { params: { path: { id: projectId } }, body }));
}

function deleteProviderKey(projectId: number, keyId: number): Promise<unknown> {
  const path = { id: projectId, key_id: keyId };
  return unwrap(api.DELETE('/api/v1/projects/{id}/provider-keys/{key_id}/', { params: { path } }));
}
