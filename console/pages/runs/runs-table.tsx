import { Link } from 'wouter';
import { Duration, Money, RunningFor, Time } from '../../ui/figures.js';
import { Status } from '../../ui/status.js';
import { Table, type Column } from '../../ui/table.js';
import { runWord } from '../run/run-word.js';
import type { ListedRun } from './runs-data.js';
import './runs-table.css';

const COLUMNS: readonly Column<ListedRun>[] = [
  {
    heading: 'Workflow',
    isName: true,
    cell: (run) => (
      <span className="runs-table-name">
        <Link href={`/runs/${run.id}`}>{run.workflow.title}</Link>
        <span className="runs-table-project">{run.project.name}</span>
      </span>
    ),
  },
  { heading: 'Started', cell: (run) => <Time at={run.run_started_at ?? run.created_at} /> },
  {
    heading: 'Status',
    cell: (run) => (
      <span className="runs-table-status">
        <Status status={runWord(run)} />
        {run.error !== null && <code className="runs-table-error">{run.error.code}</code>}
      </span>
    ),
  },
  {
    heading: 'Duration',
    isFigure: true,
    cell: (run) =>
      run.status === 'In Progress' && run.run_started_at !== null ? (
        <RunningFor since={run.run_started_at} />
      ) : (
        <Duration ms={run.duration === null ? null : run.duration * 1000} />
      ),
  },
  { heading: 'Cost', isFigure: true, cell: (run) => <Money amount={run.cost} /> },
];

export function RunsTable({ runs }: { runs: readonly ListedRun[] }) {
  return (
    <div className="runs-table">
      <Table label="Runs" columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
    </div>
  );
}
