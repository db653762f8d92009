import type { ReactNode } from 'react';
import { Time } from '../../../ui/figures.js';
import { Status } from '../../../ui/status.js';
import { Table, type Column } from '../../../ui/table.js';
import { ACTIONS } from './audit-actions.js';
import './audit.css';
import type { AuditRecord } from './use-audit.js';

interface AuditTableProps {
  records: readonly AuditRecord[];
  /** By its id; undefined where all records are of one project. */
  projectName?: ((id: number) => string) | undefined;
}

export function AuditTable({ records, projectName }: AuditTableProps) {
  return (
    <Table
      label="Audit"
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
  system: 'the service itself',
};

function whoOf({ actor, via, key_id: key, address }: AuditRecord): ReactNode {
  const way = key === null ? VIA[via] : `with API key ${key}`;
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
