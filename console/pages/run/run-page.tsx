import { explain, isNotFound } from '../../app/explain.js';
import { Alert, Loading } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { useRun } from './run-data.js';
import { RunView } from './run-view.js';
import { useKinds } from './use-kinds.js';

export function RunPage({ runId }: { runId: string }) {
  const query = useRun(runId);
  // The graph needs them: they are read beside the run.
  useKinds();
  if (query.data !== undefined) return <RunView run={query.data} />;
  if (query.isPending) return <Loading label="Loading the run" />;
  if (isNotFound(query.error)) {
    return <NotFound>There is no such run, or it is not shared with you.</NotFound>;
  }
  return (
    <>
      <PageHeader title="Run" />
      <Alert onRetry={() => void query.refetch()} isRetrying={query.isFetching}>
        {explain(query.error)}
      </Alert>
    </>
  );
}
