import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import type { Project } from '../../service/projects.js';
import { Button } from '../../ui/button.js';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Table, type Column } from '../../ui/table.js';
import { StartsOf, useActiveStarts, type ActiveStarts } from '../../parts/starts/active-starts.js';
import { LatestRuns } from './latest-runs.js';
import type { ListedWorkflow } from './list-calls.js';
import { RowMenu } from './row-menu.js';

interface WorkflowTableProps {
  workflows: readonly ListedWorkflow[];
  projects: readonly Project[];
  isBusy: boolean;
  /** Filters the list by a tag. */
  onTag: (tag: string) => void;
}

export function WorkflowTable({ workflows, projects, isBusy, onTag }: WorkflowTableProps) {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  const active = useActiveStarts([...new Set(workflows.map(({ project }) => project))]);
  return (
    <div className="workflows-table" aria-busy={isBusy || undefined}>
      <Table
        label="Workflows"
        hasCards
        keyOf={({ id }) => id}
        rows={workflows}
        columns={columnsOf(names, active, onTag)}
      />
    </div>
  );
}

function columnsOf(
  projects: ReadonlyMap<number, string>,
  active: ActiveStarts,
  onTag: (tag: string) => void,
): Column<ListedWorkflow>[] {
  return [
    {
      heading: 'Bookmark',
      isHeadingHidden: true,
      cell: (workflow) => <BookmarkButton workflow={workflow} />,
    },
    { heading: 'Title', isName: true, cell: (workflow) => <Title workflow={workflow} onTag={onTag} /> },
    { heading: 'Project', cell: ({ project }) => projects.get(project) ?? '' },
    { heading: 'Starts', cell: (workflow) => <StartsOf workflow={workflow} active={active} /> },
    { heading: 'Last runs', cell: (workflow) => <RunsLink workflow={workflow} /> },
    { heading: 'Last run', cell: ({ last_run_at: at }) => <Time at={at} /> },
    { heading: 'Cost of it', isFigure: true, cell: ({ last_run_cost: cost }) => <Money amount={cost} /> },
    { heading: 'Cost of all runs', isFigure: true, cell: ({ total_cost: cost }) => <Money amount={cost} /> },
    {
      heading: 'Average time',
      isFigure: true,
      cell: ({ average_run_duration: seconds }) => <Duration ms={seconds === null ? null : seconds * 1000} />,
    },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (workflow) => <RowMenu workflow={workflow} />,
    },
  ];
}

function Title({ workflow, onTag }: { workflow: ListedWorkflow; onTag: (tag: string) => void }) {
  const { id, title, tags } = workflow;
  return (
    <>
      <Link href={`/workflows/${id}`}>{title}</Link>
      {tags.length > 0 && (
        <ul className="tags" aria-label="Tags">
          {tags.map((tag) => (
            <li key={tag}>
              <button type="button" className="tag tag-button" onClick={() => onTag(tag)}>
                {tag}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The bar chart of the last runs, as a link to the list of all runs of the workflow. */
function RunsLink({ workflow: { id, latest_runs: statuses = [] } }: { workflow: ListedWorkflow }) {
  if (statuses.length === 0) return <LatestRuns statuses={statuses} />;
  return (
    <Link href={`/runs?workflow=${id}`} className="latest-runs-link">
      <LatestRuns statuses={statuses} />
    </Link>
  );
}

/** Bookmarked workflows are listed first. */
function BookmarkButton({ workflow }: { workflow: ListedWorkflow }) {
  const queries = useQueryClient();
  const { id, is_bookmarked: isBookmarked, title } = workflow;
  const toggle = useMutation({
    mutationFn: async (isWanted: boolean) => {
      const params = { path: { id } };
      if (isWanted) await unwrap(api.POST('/api/v1/all-workflows/{id}/add-bookmark/', { params }));
      else await unwrap(api.DELETE('/api/v1/all-workflows/{id}/delete-bookmark/', { params }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
  });
  // Optimistic: shows the requested state at once.
  const isOn = toggle.isPending ? toggle.variables : isBookmarked;
  const change = (): void => toggle.mutate(!isBookmarked);
  return (
    <>
      <Button
        variant="quiet"
        className="bookmark"
        aria-label="Bookmark"
        aria-pressed={isOn}
        title={`Bookmark ${title}`}
        isBusy={toggle.isPending}
        onClick={change}
      >
        <span aria-hidden="true">{isOn ? '★' : '☆'}</span>
      </Button>
      <Problem error={toggle.error} onRetry={change} />
    </>
  );
}
