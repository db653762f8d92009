import { useState, type ReactNode } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import type { Project } from '../../service/projects.js';
import { DayField } from '../../ui/day-field.js';
import { SelectField, type SelectOption } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Status } from '../../ui/status.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import {
  ACTION_OPTIONS,
  ACTIONS,
  useAudit,
  useUserChoices,
  type AuditFilters,
  type AuditRecord,
} from './audit-records.js';
import { useMembers } from '../../service/members.js';
import './settings.css';

/** The audit log of a project, for its admins and owners. */
export function AuditTab({ project }: { project: Project }) {
  const { data: members } = useMembers(project.id);
  const people = (members ?? []).map(({ user_id: id, name }) => ({ value: String(id), label: name }));
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Every change of this project, and every attempt that was refused, with its author. Records are kept for 400
        days. Times are yours; the filters take days of UTC.
      </p>
      <AuditLog projectId={project.id} people={people} />
    </div>
  );
}

/**
 * The audit log of all projects and of the service, for administrators. `projects` are the administrator's own
 * projects, which are shown by name; all others are shown by id.
 */
export function ServiceAuditTab({ projects }: { projects: readonly Project[] }) {
  const { data: users } = useUserChoices();
  const people = (users ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Every change of the service, its users and all projects, and every attempt that was refused. Records are kept
        for 400 days. Times are yours; the filters take days of UTC.
      </p>
      <AuditLog people={people} projectName={(id) => names.get(id) ?? `Project ${id}`} />
    </div>
  );
}

interface AuditLogProps {
  /** Undefined for the records of all projects and of the service. */
  projectId?: number;
  people: readonly SelectOption[];
  projectName?: (id: number) => string;
}

const ALL: AuditFilters = { action: '', user: '', from: '', to: '', page: 1 };

function AuditLog({ projectId, people, projectName }: AuditLogProps) {
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
          label="User"
          value={filters.user}
          options={[{ value: '', label: 'Anybody' }, ...people]}
          onChange={(user) => change({ user })}
        />
        <DayField label="From" isOptional value={filters.from} onChange={(from) => change({ from })} />
        <DayField label="To" isOptional value={filters.to} onChange={(to) => change({ to })} />
      </div>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <div className="settings-tab" aria-busy={isPlaceholderData}>
          <AuditTable records={data.items} projectName={projectName} />
          <Pager page={filters.page} size={data.size} total={data.total} onPage={(page) => change({ page })} />
        </div>
      )}
    </>
  );
}

interface AuditTableProps {
  records: readonly AuditRecord[];
  /** Returns the name of a project. Undefined if all records belong to one project. */
  projectName?: ((id: number) => string) | undefined;
}

function AuditTable({ records, projectName }: AuditTableProps) {
  return (
    <Table
      label="Audit"
      hasCards
      columns={columnsOf(projectName)}
      rows={records}
      keyOf={({ id }) => id}
      empty="Nothing was recorded that fits these filters."
    />
  );
}

function columnsOf(projectName: AuditTableProps['projectName']): Column<AuditRecord>[] {
  return [
    { heading: 'When', cell: ({ at }) => <Time at={at} /> },
    { heading: 'Who', cell: whoOf },
    { heading: 'What', cell: ({ action }) => ACTIONS[action], isName: true },
    { heading: 'Target', cell: targetOf },
    ...(projectName === undefined
      ? []
      : [
          {
            heading: 'Project',
            cell: ({ project }: AuditRecord) => (project === null ? '–' : projectName(project)),
          },
        ]),
    { heading: 'Outcome', cell: outcomeOf },
    { heading: 'Changes', cell: changesOf },
  ];
}

const VIA: Readonly<Record<AuditRecord['via'], string>> = {
  session: 'in a session',
  key: 'with an API key',
  link: 'by a sign-in link',
  hook: 'by a hook',
  callback: 'by a callback',
  schedule: 'by a schedule',
  mcp: 'by an assistant',
  system: 'the service itself',
};

function whoOf({ actor, via, client, key_id: key, address }: AuditRecord): ReactNode {
  const withKey = key === null ? undefined : `with API key ${key}`;
  const byAssistant = [client === null ? VIA.mcp : `by ${client}`, withKey].filter(Boolean).join(' ');
  const way = via === 'mcp' ? byAssistant : (withKey ?? VIA[via]);
  return (
    <>
      {actor === null ? 'Nobody signed in' : actor.name || `User ${actor.id}`}
      <span className="audit-detail">{[way, address].filter(Boolean).join(', ')}</span>
    </>
  );
}

function targetOf({ target }: AuditRecord): ReactNode {
  if (target === null) return '–';
  const { type, id, name } = target;
  return (
    <>
      {name || String(id)}
      <span className="audit-detail">
        {type.replaceAll('_', ' ')} {name !== '' && id}
      </span>
    </>
  );
}

function outcomeOf({ outcome, count }: AuditRecord): ReactNode {
  const suffix = count > 1 ? { suffix: `${count} times` } : {};
  return <Status status={outcome === 'success' ? 'done' : 'refused'} {...suffix} />;
}

function changesOf({ changes }: AuditRecord): ReactNode {
  const fields = Object.entries(changes);
  if (fields.length === 0) return '–';
  return (
    <ul className="audit-changes">
      {fields.map(([field, [before, after]]) => (
        <li key={field}>
          <code>{field}</code>: {before === null ? '' : `${textOf(before)} → `}
          {after === null ? 'none' : textOf(after)}
        </li>
      ))}
    </ul>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
