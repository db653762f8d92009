import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { SelectField, TextField, type SelectOption } from '../../../ui/fields.js';
import { Loading } from '../../../ui/notices.js';
import { Pager } from '../../../ui/table.js';
import { ACTION_OPTIONS } from './audit-actions.js';
import { AuditTable } from './audit-table.js';
import { useAudit, type AuditFilters } from './use-audit.js';

interface AuditLogProps {
  /** Undefined: of everything. */
  projectId?: number;
  /** The people whom the filter offers. */
  people: readonly SelectOption[];
  projectName?: (id: number) => string;
}

const ALL: AuditFilters = { action: '', user: '', from: '', to: '', page: 1 };

export function AuditLog({ projectId, people, projectName }: AuditLogProps) {
  const [filters, setFilters] = useState(ALL);
  const { data, error, refetch, isFetching, isPlaceholderData } = useAudit(projectId, filters);
  const change = (changed: Partial<AuditFilters>): void => setFilters({ ...filters, page: 1, ...changed });
  return (
    <>
      <div className="settings-row" role="group" aria-label="Filters">
        <SelectField
          label="Action"
          value={filters.action}
          options={ACTION_OPTIONS}
          onChange={(action) => change({ action: action as AuditFilters['action'] })}
        />
        <SelectField
          label="Person"
          value={filters.user}
          options={[{ value: '', label: 'Anybody' }, ...people]}
          onChange={(user) => change({ user })}
        />
        <TextField label="From" type="date" value={filters.from} onChange={(from) => change({ from })} />
        <TextField label="To" type="date" value={filters.to} onChange={(to) => change({ to })} />
      </div>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <div className="settings-tab" aria-busy={isPlaceholderData}>
          <AuditTable records={data.items} projectName={projectName} />
          <Pager page={filters.page} size={data.size} total={data.total} onPage={(page) => change({ page })} />
        </div>
      )}
    </>
  );
}
