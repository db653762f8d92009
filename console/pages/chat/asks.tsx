import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Problem } from '../../app/problem.js';
import { queryClient } from '../../app/queries.js';
import { useRequests } from '../../live/run-cache.js';
import { Alert, Loading } from '../../ui/notices.js';
import { useConnectionsToSignIn } from '../connection/connection-calls.js';
import { ConnectionWait } from '../connection/connection-wait.js';
import { useSignIn } from '../connection/sign-in.js';
import { readApproval, readTask } from '../inbox/inbox-calls.js';
import { RequestArticle } from '../inbox/request-article.js';
import { SignInArticle } from '../inbox/sign-in-article.js';
import { TaskArticle } from '../inbox/task-article.js';

/** What a run asks people, as cards like those of the inbox. One that was decided stays while the run goes on. */
export function Asks({ runId, projectId }: { runId: string; projectId: number }) {
  const { approvals, tasks, signIns } = useRequests(runId);
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
      {signIns.length > 0 && <SignIns projectId={projectId} waits={signIns} />}
    </>
  );
}

interface SignInsProps {
  projectId: number;
  waits: ReturnType<typeof useRequests>['signIns'];
}

/** Those who may sign in get a button, and the others are told who may. */
function SignIns({ projectId, waits }: SignInsProps) {
  const { data: own = [] } = useConnectionsToSignIn();
  const signIn = useSignIn();
  return (
    <>
      {signIn.problem !== undefined && <Alert>{signIn.problem}</Alert>}
      {waits.map(({ connectionId, until }) => {
        const connection = own.find(({ id }) => id === connectionId);
        if (connection !== undefined) return <SignInArticle key={connectionId} {...{ connection, signIn }} />;
        return (
          <article key={connectionId} className="card">
            <ConnectionWait {...{ projectId, connectionId, until }} />
          </article>
        );
      })}
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
  const decided = seen.filter((id) => !ids.includes(id)).join();
  useEffect(() => {
    for (const id of decided === '' ? [] : decided.split(','))
      void queryClient.invalidateQueries({ queryKey: [name, 'one', id] });
  }, [name, decided]);
  const queries = useQueries({
    queries: seen.map((id) => ({
      queryKey: [name, 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(id, signal),
    })),
  });
  return seen.map((id, index) => ({ id, queryKey: [name, 'one', id], query: queries[index]! }));
}
