import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Problem } from '../../app/problem.js';
import { queryClient } from '../../app/queries.js';
import { useRequests } from '../../live/run-cache.js';
import { Loading } from '../../ui/notices.js';
import { readApproval, readTask } from '../inbox/inbox-calls.js';
import { RequestArticle } from '../inbox/request-article.js';
import { TaskArticle } from '../inbox/task-article.js';

/** What a run asks people, as cards like those of the inbox. One that was decided stays while the run goes on. */
export function Asks({ runId }: { runId: string }) {
  const { approvals, tasks } = useRequests(runId);
  const requests = useEach('approvals', approvals, readApproval);
  const asked = useEach('tasks', tasks, readTask);
  return (
    <>
      {requests.map(({ id, queryKey, query }) => (
        <Card key={id} query={query}>
          {(request) => (
            <RequestArticle request={request} onChange={(now) => queryClient.setQueryData(queryKey, now)} isLinked />
          )}
        </Card>
      ))}
      {asked.map(({ id, queryKey, query }) => (
        <Card key={id} query={query}>
          {(task) => <TaskArticle task={task} onChange={(now) => queryClient.setQueryData(queryKey, now)} isLinked />}
        </Card>
      ))}
    </>
  );
}

interface CardProps<Item> {
  query: UseQueryResult<Item>;
  children: (item: Item) => ReactNode;
}

function Card<Item>({ query: { data, error, refetch, isFetching }, children }: CardProps<Item>) {
  if (data !== undefined) return children(data);
  if (error === null) return <Loading />;
  return <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
}

/** Reads what is asked, and reads it again when the run no longer asks it: somebody has decided elsewhere. */
function useEach<Item>(name: string, ids: readonly string[], read: (id: string, signal: AbortSignal) => Promise<Item>) {
  const [seen, setSeen] = useState(ids);
  const fresh = ids.filter((id) => !seen.includes(id));
  if (fresh.length > 0) setSeen([...seen, ...fresh]);
  const asked = ids.join();
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: [name, 'one'] });
  }, [name, asked]);
  const queries = useQueries({
    queries: seen.map((id) => ({
      queryKey: [name, 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(id, signal),
    })),
  });
  return seen.map((id, index) => ({ id, queryKey: [name, 'one', id], query: queries[index]! }));
}
