import { useEffect, useEffectEvent } from 'react';
import { explain } from '../../app/explain.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import { RequestArticle } from './request-article.js';
import type { useWaiting } from './use-waiting.js';

type Waiting = ReturnType<typeof useWaiting>;

interface WaitingListProps {
  waiting: Waiting;
  /** No task waits for the person either. */
  hasNoTasks: boolean;
}

export function WaitingList({ waiting, hasNoTasks }: WaitingListProps) {
  const { list, requests, fresh, total, hasMore } = waiting;
  const tell = useEffectEvent((count: number) => announce(`${countOf(count)}.`));
  useEffect(() => {
    if (fresh.length > 0) tell(fresh.length);
  }, [fresh.length]);
  if (requests === undefined) {
    if (list.error === null) return <Loading />;
    return (
      <Alert onRetry={() => void list.refetch()} isRetrying={list.isFetching}>
        {explain(list.error)}
      </Alert>
    );
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
      {requests.length === 0 && fresh.length === 0 && hasNoTasks && <Empty />}
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
