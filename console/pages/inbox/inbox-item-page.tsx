import { useQuery, useQueryClient } from '@tanstack/react-query';
import { isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { ButtonLink } from '../../ui/button.js';
import { Loading } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import type { Approval } from '../../parts/requests/approvals.js';
import { readApproval, readTask, type Task } from '../../parts/requests/request-calls.js';
import { RequestArticle } from '../../parts/requests/request-article.js';
import { TaskArticle } from '../../parts/requests/task-article.js';
import './inbox.css';

const POLL_EVERY_MS = 10_000;

/** Only tasks have the field `may_answer`. */
function isTask(item: Approval | Task): item is Task {
  return 'may_answer' in item;
}

/** Ids of requests and tasks have the same form. An id without a request is therefore looked up as a task. */
async function readItem(id: string, signal: AbortSignal): Promise<Approval | Task> {
  try {
    return await readApproval(id, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return readTask(id, signal);
  }
}

/** A single request or task. The inbox links here; so do chat completions and MCP answers of runs that wait. */
export function InboxItemPage({ itemId }: { itemId: string }) {
  const queries = useQueryClient();
  const queryKey = ['approvals', 'item', itemId];
  const change = (item: Approval | Task): void => void queries.setQueryData(queryKey, item);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey,
    queryFn: ({ signal }) => readItem(itemId, signal),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === 'pending' ? POLL_EVERY_MS : false,
  });
  if (isNotFound(error)) return <NotFound>There is no such request, or it is not shared with you.</NotFound>;
  return (
    <div className="inbox">
      <PageHeader title="Request" actions={<ButtonLink to="/inbox">To the inbox</ButtonLink>} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && isTask(data) && <TaskArticle task={data} onChange={change} />}
      {data !== undefined && !isTask(data) && <RequestArticle request={data} onChange={change} />}
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
    </div>
  );
}
