import { Problem } from '../../../app/problem.js';
import { Button } from '../../../ui/button.js';
import { Time } from '../../../ui/figures.js';
import { Loading } from '../../../ui/notices.js';
import { Table, type Column } from '../../../ui/table.js';
import { useProviderKeys, type ProviderKey } from './use-provider-keys.js';

interface ProviderKeysProps {
  projectId: number;
  /** Absent for who may not. */
  onDelete?: (key: ProviderKey) => void;
}

export function ProviderKeys({ projectId, onDelete }: ProviderKeysProps) {
  const { data, error, refetch, isFetching } = useProviderKeys(projectId);
  return (
    <>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Table
          label="Provider keys"
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
