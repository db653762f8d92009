import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import { queryClient } from '../../service/queries.js';
import { readApproval, readTask } from './request-calls.js';
import { RequestArticle } from './request-article.js';
import { TaskArticle } from './task-article.js';

/** Somebody else may decide meanwhile. */
const READ_AGAIN_MS = 10_000;

/** An approval request as in the inbox, without the links that would lead away from where it is shown. */
export function RequestHere({ requestId }: { requestId: string }) {
  const queryKey = ['approvals', 'one', requestId];
  const query = usePending(queryKey, (signal) => readApproval(requestId, signal));
  return (
    <Shown query={query}>
      {(request) => (
        <RequestArticle request={request} onChange={(now) => queryClient.setQueryData(queryKey, now)} isHere />
      )}
    </Shown>
  );
}

/** A human task as in the inbox, without the links that would lead away from where it is shown. */
export function TaskHere({ taskId }: { taskId: string }) {
  const queryKey = ['tasks', 'one', taskId];
  const query = usePending(queryKey, (signal) => readTask(taskId, signal));
  return (
    <Shown query={query}>
      {(task) => <TaskArticle task={task} onChange={(now) => queryClient.setQueryData(queryKey, now)} isHere />}
    </Shown>
  );
}

function usePending<Item extends { status: string }>(
  queryKey: readonly string[],
  read: (signal: AbortSignal) => Promise<Item>,
): UseQueryResult<Item> {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === 'pending' ? READ_AGAIN_MS : false,
  });
}

interface ShownProps<Item> {
  query: UseQueryResult<Item>;
  children: (item: Item) => ReactNode;
}

function Shown<Item>({ query, children }: ShownProps<Item>) {
  return query.data === undefined ? <QueryPlaceholder {...query} /> : children(query.data);
}
