import { useQuery, useQueryClient } from '@tanstack/react-query';
import { explain, isNotFound } from '../../app/explain.js';
import { Alert } from '../../ui/alert.js';
import { ButtonLink } from '../../ui/button-link.js';
import { Loading } from '../../ui/loading.js';
import { NotFound } from '../../ui/not-found.js';
import { PageHeader } from '../../ui/page-header.js';
import { readApproval } from '../inbox/approval.js';
import type { Approval } from '../inbox/approval-types.js';
import '../inbox/inbox.css';
import { RequestArticle } from '../inbox/request-article.js';

const ASK_EVERY_MS = 10_000;

/** One request, for links in messages. */
export function InboxItemPage({ itemId }: { itemId: string }) {
  const queries = useQueryClient();
  const queryKey = ['approvals', 'one', itemId];
  const { data, error, refetch, isFetching } = useQuery({
    queryKey,
    queryFn: ({ signal }) => readApproval(itemId, signal),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.status === 'pending' ? ASK_EVERY_MS : false,
  });
  if (isNotFound(error)) return <NotFound>There is no such request, or it is not shared with you.</NotFound>;
  return (
    <div className="inbox">
      <PageHeader title="Request" actions={<ButtonLink to="/inbox">To the inbox</ButtonLink>} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <RequestArticle request={data} onChange={(request: Approval) => queries.setQueryData(queryKey, request)} />
      )}
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
    </div>
  );
}
