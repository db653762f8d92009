import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { pollRun } from '../../../clients/typescript/src/index.js';
import { api } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { queryClient } from '../../service/queries.js';
import { startLiveRun } from '../../live/live-run.js';
import { requestsOf, useRequests, type Requests } from '../../live/run-cache.js';
import { Alert, Loading } from '../../ui/notices.js';
import { useConnectionsToSignIn } from '../connection/connection-calls.js';
import { ConnectionWait } from '../connection/connection-wait.js';
import { useSignIn } from '../connection/sign-in.js';
import { readApproval, readTask } from '../requests/request-calls.js';
import { RequestArticle } from '../requests/request-article.js';
import { SignInArticle } from '../requests/sign-in-article.js';
import { TaskArticle } from '../requests/task-article.js';

/**
 * Poll interval for the runs of sub-workflows. These runs are not streamed, because browsers have six connections per
 * origin.
 */
const READ_AGAIN_MS = 3_000;

interface AsksProps {
  runId: string;
  projectId: number;
}

/** Requests to people from a run and the runs that it started, as cards like those of the inbox. */
export function Asks({ runId, projectId }: AsksProps) {
  return <Cards requests={useRequests(runId)} projectId={projectId} />;
}

/**
 * Requests of the run of a sub-workflow. Requests of nodes inside loops are missing, because a poll does not list such
 * nodes. Sub-workflows belong to the project of their callers.
 */
function AsksBelow({ runId, projectId }: AsksProps) {
  const { data: requests } = useQuery({
    queryKey: ['run-requests', runId],
    queryFn: async ({ signal }) => {
      const { status, nodes } = await pollRun(api, runId, signal);
      return requestsOf(startLiveRun(status, nodes));
    },
    refetchInterval: READ_AGAIN_MS,
  });
  return requests && <Cards requests={requests} projectId={projectId} />;
}

/** A decided request stays visible while its run is shown. */
function Cards({
  requests: { approvals, tasks, signIns, below },
  projectId,
}: {
  requests: Requests;
  projectId: number;
}) {
  const calls = useEach('approvals', approvals, readApproval);
  const asked = useEach('tasks', tasks, readTask);
  return (
    <>
      {calls.map(({ id, queryKey, query }) => (
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
      {below.map((id) => (
        <AsksBelow key={id} runId={id} projectId={projectId} />
      ))}
    </>
  );
}

interface SignInsProps {
  projectId: number;
  waits: Requests['signIns'];
}

/** People who may sign in get a button; others see who may. */
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

/** Loads the requests. Reloads each one that the run no longer lists: it was decided, perhaps elsewhere, or expired. */
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
