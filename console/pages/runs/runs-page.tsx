import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { explain } from '../../app/explain.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Alert, Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { FilterBar } from './filter-bar.js';
import { isFiltered, readFilters, toParams, type RunFilters } from './run-filters.js';
import { useRuns } from './runs-data.js';
import { RunsList } from './runs-list.js';

/** A search is made when nothing was typed for so long. */
const TYPING_MS = 300;

export function RunsPage() {
  const { filters, search, setSearch, change } = useFilters();
  const query = useRuns(filters);
  const reset = (): void => {
    setSearch('');
    change({ status: '', project: '', workflow: '', search: '', from: '', to: '' });
  };
  return (
    <>
      <PageHeader title="Runs" />
      <FilterBar filters={filters} search={search} onSearch={setSearch} onChange={change} />
      {query.isError && (
        <Alert onRetry={() => void query.refetch()} isRetrying={query.isFetching}>
          {explain(query.error)}
        </Alert>
      )}
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

/** The filters live in the address; the text of a search gets there when the person pauses. */
function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters = readFilters(params);
  const [search, setSearch] = useState(filters.search);
  const [addressed, setAddressed] = useState(filters.search);
  if (addressed !== filters.search) {
    // Another address: by the back button, for example.
    setAddressed(filters.search);
    setSearch(filters.search);
  }
  const change = (next: Partial<RunFilters>): void =>
    setParams((before) => toParams({ ...readFilters(before), page: 1, ...next }), { replace: !('page' in next) });
  useEffect(() => {
    if (search === filters.search) return undefined;
    const timer = setTimeout(() => {
      setAddressed(search);
      setParams((before) => toParams({ ...readFilters(before), page: 1, search }), { replace: true });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [search, filters.search, setParams]);
  return { filters, search, setSearch, change };
}
