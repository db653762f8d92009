import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { FailedChoices, Problem } from '../../service/problem.js';
import { useTyped } from '../../service/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { DayField } from '../../ui/day-field.js';
import { SearchField, SelectField, type SelectOption } from '../../ui/fields.js';
import { Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { RUN_FILTERS, runWord, toStoredStatus } from '../../live/run-word.js';
import { RUN_COLUMNS, useRunList, type ListedRun, type RunPage } from '../../parts/run/run-list.js';
import {
  dayOf,
  isFiltered,
  isTyped,
  mergePage,
  ORDERS,
  readFilters,
  toParams,
  toQuery,
  type RunFilters,
} from './run-filters.js';
import './runs-page.css';

export function RunsPage() {
  const { filters, search, setSearch, change } = useFilters();
  const query = useRunList(toQuery(filters));
  const reset = (): void => {
    setSearch('');
    change({ kind: '', status: '', waiting: false, project: '', workflow: '', search: '', from: '', to: '' });
  };
  return (
    <>
      <PageHeader title="Runs" />
      <FilterBar filters={filters} search={search} onSearch={setSearch} onChange={change} />
      <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
      {query.isPending && <Loading label="Loading the runs" />}
      {query.data?.total === 0 && !query.isPlaceholderData && <Empty filters={filters} onReset={reset} />}
      {query.data !== undefined && query.data.total > 0 && (
        <RunsList
          key={toParams(filters).toString()}
          data={query.data}
          isStale={query.isPlaceholderData}
          onPage={(page) => change({ page })}
        />
      )}
    </>
  );
}

function Empty({ filters, onReset }: { filters: RunFilters; onReset: () => void }) {
  if (isFiltered(filters)) {
    return (
      <div className="runs-empty">
        <p>No run matches these filters.</p>
        <Button onClick={onReset}>Show all runs</Button>
      </div>
    );
  }
  return (
    <div className="runs-empty">
      <p>Nothing has run yet. Open a workflow and press Run: it appears here at once, and you can watch it.</p>
      <ButtonLink to="/workflows" variant="primary">
        Choose a workflow to run
      </ButtonLink>
    </div>
  );
}

/** Keeps the filters in the address. Search text is written there after a pause in typing. */
function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const change = (next: Partial<RunFilters>): void =>
    setParams((before) => toParams({ ...readFilters(before), page: 1, ...next }), { replace: isTyped(next) });
  const [search, setSearch] = useTyped(filters.search, (text) => change({ search: text }));
  return { filters, search, setSearch, change };
}

interface FilterBarProps {
  filters: RunFilters;
  /** Text of the search field, which may be newer than the address. */
  search: string;
  onSearch: (text: string) => void;
  onChange: (change: Partial<RunFilters>) => void;
}

const WAITING = 'waiting for a person';

const KINDS = [
  { value: '', label: 'Runs of workflows' },
  { value: 'test', label: 'Tests' },
  { value: 'assistant', label: 'Answers of the assistant' },
];

function FilterBar({ filters, search, onSearch, onChange }: FilterBarProps) {
  const projects = useProjectChoices();
  const workflows = useWorkflowChoices(toQuery(filters).project);
  const status = toStoredStatus(filters.status);
  const word = status === undefined ? '' : runWord({ status, run_started_at: '' });
  const statuses = [...RUN_FILTERS.map(([value]) => value), WAITING].map((value) => ({ value, label: value }));
  return (
    <div className="filter-bar" role="group" aria-label="Filters">
      <div className="filter-bar-search">
        <SearchField label="Search runs" value={search} onChange={onSearch} />
      </div>
      <SelectField label="Kind" value={filters.kind} options={KINDS} onChange={(kind) => onChange({ kind })} />
      <SelectField
        label="Status"
        value={filters.waiting ? WAITING : word}
        options={[{ value: '', label: 'Any status' }, ...statuses]}
        onChange={(value) =>
          onChange(value === WAITING ? { status: '', waiting: true } : { status: value, waiting: false })
        }
      />
      <SelectField
        label="Project"
        value={filters.project}
        options={toOptions('All projects', 'Project', projects.data, filters.project)}
        onChange={(value) => onChange({ project: value, workflow: '' })}
      />
      <SelectField
        label="Workflow"
        value={filters.workflow}
        options={toOptions('All workflows', 'Workflow', workflows.data, filters.workflow)}
        onChange={(value) => onChange({ workflow: value })}
      />
      <DayField label="From" isOptional value={dayOf(filters.from)} onChange={(from) => onChange({ from })} />
      <DayField label="To" isOptional value={dayOf(filters.to)} onChange={(to) => onChange({ to })} />
      <SelectField
        label="Order"
        value={filters.order}
        options={ORDERS}
        onChange={(value) => onChange({ order: value })}
      />
      <FailedChoices noun="projects" query={projects} />
      <FailedChoices noun="workflows" query={workflows} />
    </div>
  );
}

/** Adds the chosen project or workflow if the list lacks it, because the address may name any. */
function toOptions(
  all: string,
  noun: string,
  choices: readonly { id: number; name: string }[] = [],
  chosen: string,
): SelectOption[] {
  const options = choices.map(({ id, name }) => ({ value: String(id), label: name }));
  const isListed = chosen === '' || options.some(({ value }) => value === chosen);
  return [{ value: '', label: all }, ...options, ...(isListed ? [] : [{ value: chosen, label: `${noun} ${chosen}` }])];
}

interface RunsListProps {
  data: RunPage;
  /** True if the rows belong to the previous filters. */
  isStale: boolean;
  onPage: (page: number) => void;
}

/**
 * A page of runs. Rows update in place, but the list does not move while somebody points at it or has the focus in it.
 */
function RunsList({ data, isStale, onPage }: RunsListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<RunPage>();
  useLayoutEffect(() => {
    const isAimedAt = frame.current?.matches(':hover, :focus-within') ?? false;
    if (!isStale) setShown((before) => (before === undefined || !isAimedAt ? data : before));
  }, [data, isStale]);
  const { rows, newCount } = mergePage(isStale ? undefined : shown, data);
  return (
    <div ref={frame} className={isStale ? 'runs-list runs-stale' : 'runs-list'} aria-busy={isStale || undefined}>
      {newCount > 0 && (
        <div className="runs-new">
          <Button variant="quiet" onClick={() => setShown(data)}>
            {newCount === 1 ? 'Show 1 new run' : `Show ${newCount} new runs`}
          </Button>
        </div>
      )}
      {rows.length > 0 ? <RunsTable runs={rows} /> : <p className="table-empty">There are no runs on this page.</p>}
      <Pager page={data.page} size={data.size} total={data.total} onPage={onPage} />
    </div>
  );
}

const COLUMNS: readonly Column<ListedRun>[] = [
  {
    heading: 'Workflow',
    isName: true,
    cell: (run) => (
      <span className="runs-table-name">
        <Link href={`/runs/${run.id}`}>{run.workflow.title}</Link>
        <span className="run-list-more">{run.project.name}</span>
      </span>
    ),
  },
  ...RUN_COLUMNS,
];

function RunsTable({ runs }: { runs: readonly ListedRun[] }) {
  return (
    <div className="run-list">
      <Table label="Runs" hasCards columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
    </div>
  );
}

// The choices of the filters.

/** The service's maximum page size. */
const MOST = 100;

interface Choice {
  id: number;
  name: string;
}

function useProjectChoices(): UseQueryResult<readonly Choice[]> {
  return useQuery({
    queryKey: ['projects', 'choices'],
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET('/api/v1/projects/', { params: { query: { size: MOST } }, signal }))).items,
    staleTime: 60_000,
  });
}

/** Options of the workflow filter, most recently run first. Stores only ids and titles. */
function useWorkflowChoices(project: number | undefined): UseQueryResult<readonly Choice[]> {
  return useQuery({
    queryKey: ['workflows', 'choices', project],
    queryFn: async ({ signal }) => {
      const filter = { size: MOST, ordering: '-last_run_at' as const, ...(project === undefined ? {} : { project }) };
      const { items } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query: filter }, signal }));
      return items.map(({ id, title }) => ({ id, name: title }));
    },
    staleTime: 60_000,
  });
}
