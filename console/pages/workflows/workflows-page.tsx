import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api, unwrap, type paths } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { useTyped } from '../../app/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Duration, Money, Time } from '../../ui/figures.js';
import { Alert, Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { DropZone, ImportButton, ImportDialogs, useImport } from './import.js';
import { NewWorkflowDialog } from './new-workflow-dialog.js';
import { useProjects, type Project } from './use-projects.js';
import './workflows-page.css';

export function WorkflowsPage() {
  const { filters, search, setSearch, setProject, setPage, clear } = useFilters();
  const [isMaking, setIsMaking] = useState(false);
  const projects = useProjects();
  const importing = useImport(filters.project);
  const workflows = useWorkflows(filters);
  const { data } = workflows;
  const error = workflows.error ?? projects.error;
  const hasFilters = filters.search !== '' || filters.project !== '';
  const retry = (): void => {
    void workflows.refetch();
    void projects.refetch();
  };
  return (
    <DropZone onFiles={importing.takeDropped}>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <ImportButton isBusy={importing.isBusy} onFile={importing.take} />
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
          onChange={setProject}
        />
        <SearchField label="Search workflows" value={search} onChange={setSearch} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      {error !== null && (
        <Alert onRetry={retry} isRetrying={workflows.isFetching}>
          {explain(error)}
        </Alert>
      )}
      {workflows.isPending && <Loading label="Loading workflows" />}
      {data !== undefined && data.total === 0 && (
        <EmptyWorkflows isFiltered={hasFilters} onClear={clear} onNew={() => setIsMaking(true)} />
      )}
      {data !== undefined && data.total > 0 && (
        <WorkflowTable workflows={data.items} projects={projects.data ?? []} isBusy={workflows.isPlaceholderData} />
      )}
      {data !== undefined && <Pager page={data.page} size={data.size} total={data.total} onPage={setPage} />}
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

/** Bookmarked workflows come first in the list. */
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
  // What was asked for is shown at once.
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
      {toggle.isError && <Alert onRetry={change}>{explain(toggle.error)}</Alert>}
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
        {/* Not the page's own button a second time, but what it leads to. */}
        <Button variant="primary" onClick={onNew}>
          Draw the first workflow
        </Button>
        <ButtonLink to="/marketplace">Look at the marketplace</ButtonLink>
      </div>
    </div>
  );
}

interface Filters {
  /** An id, or empty for all. */
  project: string;
  search: string;
  page: number;
}

/** The filters live in the address, so that they can be sent to somebody, and the back button knows them. */
function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters: Filters = {
    project: toId(params.get('project')),
    search: params.get('search') ?? '',
    page: Number(toId(params.get('page')) || 1),
  };
  const set = (change: Record<string, string>): void => {
    setParams(
      (last) => {
        const next = new URLSearchParams(last);
        for (const [name, value] of Object.entries(change)) {
          if (value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  };
  const [search, setSearch] = useTyped(filters.search, (text) => set({ search: text, page: '' }));
  return {
    filters,
    search,
    setSearch,
    setProject: (project: string) => set({ project, page: '' }),
    setPage: (page: number) => set({ page: page === 1 ? '' : String(page) }),
    clear: () => {
      setSearch('');
      set({ project: '', search: '', page: '' });
    },
  };
}

function toId(text: string | null): string {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? text : '';
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
        ...(project !== '' && { project: Number(project) }),
        ...(search !== '' && { search }),
      };
      return unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
