import { Link } from 'wouter';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Table, type Column } from '../../ui/table.js';
import { BookmarkButton } from './bookmark-button.js';
import type { Project } from './use-projects.js';
import type { ListedWorkflow } from './use-workflows.js';

interface WorkflowTableProps {
  workflows: readonly ListedWorkflow[];
  projects: readonly Project[];
  isBusy: boolean;
}

export function WorkflowTable({ workflows, projects, isBusy }: WorkflowTableProps) {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <div aria-busy={isBusy || undefined}>
      <Table label="Workflows" keyOf={({ id }) => id} rows={workflows} columns={columnsOf(names)} />
    </div>
  );
}

function columnsOf(projects: ReadonlyMap<number, string>): Column<ListedWorkflow>[] {
  return [
    {
      heading: 'Bookmark',
      isHeadingHidden: true,
      cell: (workflow) => <BookmarkButton workflow={workflow} />,
    },
    { heading: 'Title', isName: true, cell: ({ id, title }) => <Link href={`/workflows/${id}`}>{title}</Link> },
    { heading: 'Project', cell: ({ project }) => projects.get(project) ?? '' },
    { heading: 'Last run', cell: ({ last_run_at: at }) => <Time at={at} /> },
    { heading: 'Cost of it', isFigure: true, cell: ({ last_run_cost: cost }) => <Money amount={cost} /> },
    { heading: 'Cost of all runs', isFigure: true, cell: ({ total_cost: cost }) => <Money amount={cost} /> },
    {
      heading: 'Average time',
      isFigure: true,
      cell: ({ average_run_duration: seconds }) => <Duration ms={seconds === null ? null : seconds * 1000} />,
    },
  ];
}
