import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { explain } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import type { ConnectionToSignIn } from '../../parts/connection/connection-types.js';
import { useSignIn } from '../../parts/connection/sign-in.js';
import { freshOf, missingOf, withChanges, withOlder, type Approval } from '../../parts/requests/approvals.js';
import {
  keepPlaces,
  listApprovals,
  listTasks,
  readApproval,
  readTask,
  type Task,
} from '../../parts/requests/request-calls.js';
import { RequestArticle } from '../../parts/requests/request-article.js';
import { SignInArticle } from '../../parts/requests/sign-in-article.js';
import { TaskArticle } from '../../parts/requests/task-article.js';

type Waiting = ReturnType<typeof useWaiting>;

interface WaitingListProps {
  waiting: Waiting;
  /** True if no task and no sign-in waits for the person. */
  hasNothingElse: boolean;
}

export function WaitingList({ waiting, hasNothingElse }: WaitingListProps) {
  const { list, requests, fresh, total, hasMore } = waiting;
  const announceNew = useEffectEvent((count: number) => announce(`${countOf(count)}.`));
  useEffect(() => {
    if (fresh.length > 0) announceNew(fresh.length);
  }, [fresh.length]);
  if (requests === undefined) {
    if (list.error === null) return <Loading />;
    return <Problem error={list.error} onRetry={() => void list.refetch()} isRetrying={list.isFetching} />;
  }
  return (
    <>
      <div className="inbox-bar">
        <p>{total === 1 ? '1 request waits for a decision.' : `${total} requests wait for a decision.`}</p>
        {fresh.length > 0 && (
          <Button variant="primary" onClick={waiting.showFresh}>
            {countOf(fresh.length)}, show
          </Button>
        )}
        {list.error !== null && (
          <div className="inbox-bar-problem">
            <Alert onRetry={() => void list.refetch()} isRetrying={list.isFetching}>
              This list may be out of date. {explain(list.error)}
            </Alert>
          </div>
        )}
      </div>
      {requests.length === 0 && fresh.length === 0 && hasNothingElse && <Empty />}
      <div className="inbox-list">
        {requests.map((request) => (
          <RequestArticle key={request.request_id} request={request} onChange={waiting.change} isLinked />
        ))}
      </div>
      {hasMore && (
        <Button isBusy={list.isPlaceholderData} onClick={waiting.showMore}>
          Show older requests
        </Button>
      )}
    </>
  );
}

function countOf(count: number): string {
  return count === 1 ? '1 new request' : `${count} new requests`;
}

function Empty() {
  return (
    <Note>
      <p>
        Nothing waits for you. An agent node asks here before it calls a tool, unless the tool is marked as one that
        needs no approval, and a human task asks here for an answer. Both appear by themselves.
      </p>
      <p className="inbox-empty-next">
        <ButtonLink to="/workflows">To the workflows</ButtonLink>
      </p>
    </Note>
  );
}

const POLL_EVERY_MS = 10_000;
const PAGE_SIZE = 50;

interface Listed {
  items: Approval[];
  total: number;
}

/**
 * Pending requests. Until the page closes, a shown request keeps its place, even after its decision. New requests are
 * inserted only by `showFresh`.
 */
export function useWaiting() {
  const [pages, setPages] = useState(1);
  const [shown, setShown] = useState<readonly Approval[]>();
  const [seen, setSeen] = useState<readonly Approval[]>();
  const list = useQuery({
    queryKey: ['approvals', 'pending', 'list', pages],
    queryFn: ({ signal }) => readPages(pages, signal),
    refetchInterval: POLL_EVERY_MS,
    placeholderData: (before) => before,
  });
  const listed = list.data?.items;
  // Shown requests are updated if they are still listed. Older requests are appended at once, because appending moves
  // none of the shown ones.
  if (listed !== undefined && listed !== seen) {
    setSeen(listed);
    setShown(shown === undefined ? listed : withOlder(withChanges(shown, listed), listed));
  }
  const missing = shown === undefined || listed === undefined ? [] : missingOf(shown, listed);
  const current = withChanges(shown ?? [], useEach('approvals', missing, readApproval));
  const fresh = shown === undefined || listed === undefined ? [] : freshOf(shown, listed);
  return {
    list,
    /** Undefined until the first response. */
    requests: shown === undefined ? undefined : current,
    total: list.data?.total ?? 0,
    fresh,
    hasMore: listed !== undefined && listed.length < (list.data?.total ?? 0),
    showFresh: () => setShown([...fresh, ...current]),
    showMore: () => setPages(pages + 1),
    change: (request: Approval) => setShown(withChanges(current, [request])),
  };
}

/**
 * Loads the current state of shown requests or tasks that are no longer in the list of pending ones. Polls those that
 * are still pending, for example beyond the loaded pages.
 */
function useEach<Item extends { status: string }>(
  name: string,
  ids: readonly string[],
  read: (id: string, signal: AbortSignal) => Promise<Item>,
): Item[] {
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: [name, 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(id, signal),
      refetchInterval: ({ state }: { state: { data?: Item | undefined } }) =>
        state.data === undefined || state.data.status === 'pending' ? POLL_EVERY_MS : false,
    })),
  });
  return answers.flatMap(({ data }) => data ?? []);
}

async function readPages(pages: number, signal: AbortSignal): Promise<Listed> {
  const items = new Map<string, Approval>();
  let total = 0;
  for (let page = 1; page <= pages; page += 1) {
    const part = await listApprovals({ status: 'pending', page, size: PAGE_SIZE }, signal);
    total = part.total;
    for (const request of part.items) items.set(request.request_id, request);
    if (part.items.length < part.size) break;
  }
  return { items: [...items.values()], total };
}

/** Tasks that wait for the person. Renders nothing if there are none. */
export function WaitingTasks({ tasks }: { tasks: ReturnType<typeof useWaitingTasks> }) {
  const { list, shown, total, change } = tasks;
  if (list.error !== null && total === undefined) {
    return <Problem error={list.error} onRetry={() => void list.refetch()} isRetrying={list.isFetching} />;
  }
  if (total === undefined || shown.length === 0) return null;
  return (
    <section aria-label="Tasks" className="inbox-list">
      <p>{total === 1 ? '1 task waits for you.' : `${total} tasks wait for you.`}</p>
      {total > MOST_TASKS && (
        <Note>The newest {MOST_TASKS} are shown. Those behind them follow when these are answered.</Note>
      )}
      {shown.map((task) => (
        <TaskArticle key={task.id} task={task} onChange={change} isLinked />
      ))}
    </section>
  );
}

const MOST_TASKS = 50;

/**
 * Tasks that wait for the person. Until the page closes, a shown task keeps its place, even after its answer. New tasks
 * are appended.
 */
export function useWaitingTasks() {
  const [shown, setShown] = useState<readonly Task[]>([]);
  const [seen, setSeen] = useState<readonly Task[]>();
  const list = useQuery({
    queryKey: ['tasks', 'pending'],
    queryFn: ({ signal }) => listTasks({ status: 'pending', page: 1, size: MOST_TASKS }, signal),
    refetchInterval: POLL_EVERY_MS,
  });
  if (list.data !== undefined && list.data.items !== seen) {
    setSeen(list.data.items);
    setShown(keepPlaces(shown, list.data.items));
  }
  const ids = new Set((list.data?.items ?? shown).map(({ id }) => id));
  const missing = shown.filter(({ id, status }) => status === 'pending' && !ids.has(id)).map(({ id }) => id);
  const current = keepPlaces(shown, useEach('tasks', missing, readTask));
  return {
    list,
    shown: current,
    /** Undefined until the first response. */
    total: list.data?.total,
    change: (changed: Task) => setShown(current.map((task) => (task.id === changed.id ? changed : task))),
  };
}

/** Connections that need the person to sign in. Renders nothing if there are none. */
export function WaitingConnections({ query }: { query: UseQueryResult<ConnectionToSignIn[]> }) {
  const { data, error, refetch, isFetching } = query;
  const signIn = useSignIn(() => document.getElementById('main')?.focus());
  if (data === undefined) return <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  if (data.length === 0) return null;
  return (
    <section aria-label="Connections" className="inbox-list">
      <p>{data.length === 1 ? '1 connection needs a sign-in.' : `${data.length} connections need a sign-in.`}</p>
      {signIn.problem !== undefined && <Alert>{signIn.problem}</Alert>}
      {data.map((connection) => (
        <SignInArticle key={connection.id} connection={connection} signIn={signIn} />
      ))}
    </section>
  );
}
