import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap, type paths } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { useProjects, type Project } from '../../service/projects.js';
import { useSearchState, useTyped } from '../../service/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Alert, Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { DropZone, ImportButton, ImportDialogs, useImport } from '../../parts/import.js';
import { LatestRuns } from './latest-runs.js';
import { NewWorkflowDialog } from './new-workflow-dialog.js';
import './workflows-page.css';

export function WorkflowsPage() {
  const { get, set, page } = useSearchState();
  const filters: Filters = {
    project: /^[1-9]\d{0,8}$/.test(get('project')) ? get('project') : '',
    search: get('search'),
    page,
  };
  const [search, setSearch] = useTyped(filters.search, (text) => set({ search: text }));
  const [isMaking, setIsMaking] = useState(false);
  const projects = useProjects();
  const importing = useImport(filters.project);
  const workflows = useWorkflows(filters);
  const { data } = workflows;
  const error = workflows.error ?? projects.error;
  const hasFilters = filters.search !== '' || filters.project !== '';
  const clear = (): void => {
    setSearch('');
    set({ project: '', search: '' });
  };
  const retry = (): void => {
    void workflows.refetch();
    void projects.refetch();
  };
  return (
    <DropZone onFiles={importing.take}>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <ImportButton isBusy={importing.isBusy} onFiles={importing.take} />
            <Button variant="primary" onClick={() => setIsMaking(true)}>
              New workflow
            </Button>
          </>
        }
      />
      <div className="workflows-filters">
        <SelectField
          label="Project"
          value={filters.project}
          options={[
            { value: '', label: 'All projects' },
            ...(projects.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(project) => set({ project }, { isStep: true })}
        />
        <SearchField label="Search workflows" value={search} onChange={setSearch} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      <Problem error={error} onRetry={retry} isRetrying={workflows.isFetching} />
      {workflows.isPending && <Loading label="Loading workflows" />}
      {data !== undefined && data.total === 0 && (
        <EmptyWorkflows isFiltered={hasFilters} onClear={clear} onNew={() => setIsMaking(true)} />
      )}
      {data !== undefined && data.total > 0 && (
        <WorkflowTable workflows={data.items} projects={projects.data ?? []} isBusy={workflows.isPlaceholderData} />
      )}
      {data !== undefined && (
        <Pager
          page={data.page}
          size={data.size}
          total={data.total}
          onPage={(next) => set({ page: next === 1 ? '' : String(next) })}
        />
      )}
      {isMaking && <NewWorkflowDialog project={filters.project} onClose={() => setIsMaking(false)} />}
      <ImportDialogs importing={importing} />
    </DropZone>
  );
}

interface WorkflowTableProps {
  workflows: readonly ListedWorkflow[];
  projects: readonly Project[];
  isBusy: boolean;
}

function WorkflowTable({ workflows, projects, isBusy }: WorkflowTableProps) {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <div className="workflows-table" aria-busy={isBusy || undefined}>
      <Table label="Workflows" hasCards keyOf={({ id }) => id} rows={workflows} columns={columnsOf(names)} />
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
    { heading: 'Last runs', cell: ({ latest_runs: statuses }) => <LatestRuns statuses={statuses} /> },
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

interface EmptyWorkflowsProps {
  isFiltered: boolean;
  onClear: () => void;
  onNew: () => void;
}

function EmptyWorkflows({ isFiltered, onClear, onNew }: EmptyWorkflowsProps) {
  if (isFiltered) {
    return (
      <div className="workflows-empty">
        <p>No workflow matches.</p>
        <Button onClick={onClear}>Show all workflows</Button>
      </div>
    );
  }
  return (
    <div className="workflows-empty">
      <p>
        A workflow is a graph of what should happen: a trigger, requests, questions to a model, conditions. Draw your
        first one, or take one that others have published.
      </p>
      <div className="workflows-empty-actions">
        {/* A different name from the button in the header, which opens the same dialog. */}
        <Button variant="primary" onClick={onNew}>
          Draw the first workflow
        </Button>
        <ButtonLink to="/marketplace">Look at the marketplace</ButtonLink>
      </div>
    </div>
  );
}

interface Filters {
  /** Project id, or empty for all. */
  project: string;
  search: string;
  page: number;
}

type ListedWorkflow =
  paths['/api/v1/all-workflows/']['get']['responses']['200']['content']['application/json']['items'][number];

const SIZE = 20;

function useWorkflows({ project, search, page }: Filters) {
  return useQuery({
    queryKey: ['workflows', { project, search, page }],
    queryFn: ({ signal }) => {
      const query = {
        page,
        size: SIZE,
        include: 'latest_runs' as const,
        ...(project !== '' && { project: Number(project) }),
        ...(search !== '' && { search }),
      };
      return unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
