import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { explain } from '../../app/explain.js';
import { Alert } from '../../ui/alert.js';
import { Loading } from '../../ui/loading.js';
import { Note } from '../../ui/note.js';
import { Pager } from '../../ui/pager.js';
import { SelectField } from '../../ui/select-field.js';
import { listApprovals } from './approval.js';
import type { ApprovalFilter } from './approval-types.js';
import { RequestArticle } from './request-article.js';

const PAGE_SIZE = 20;
const OUTCOMES = [
  { value: 'decided', label: 'Approved and rejected' },
  { value: 'approved', label: 'Approved' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
] as const satisfies { value: ApprovalFilter; label: string }[];

/** `?outcome=&page=`. */
export function DecidedList() {
  const [search, setSearch] = useSearchParams();
  const status = OUTCOMES.find(({ value }) => value === search.get('outcome'))?.value ?? 'decided';
  const page = Math.max(1, Math.trunc(Number(search.get('page'))) || 1);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['approvals', status, 'list', page],
    queryFn: ({ signal }) => listApprovals({ status, page, size: PAGE_SIZE }, signal),
    placeholderData: (before) => before,
  });
  const set = (key: string, value: string | undefined): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('page');
      if (value === undefined) next.delete(key);
      else next.set(key, value);
      return next;
    });
  return (
    <>
      <div className="inbox-filter">
        <SelectField label="Outcome" value={status} options={OUTCOMES} onChange={(value) => set('outcome', value)} />
        {data !== undefined && <p>{data.total === 1 ? '1 request' : `${data.total} requests`}</p>}
      </div>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data?.items.length === 0 && <Note>No request has ended this way yet.</Note>}
      <div className="inbox-list" aria-busy={isFetching}>
        {data?.items.map((request) => (
          <RequestArticle key={request.request_id} request={request} onChange={() => void refetch()} isLinked />
        ))}
      </div>
      {data !== undefined && (
        <Pager page={page} size={data.size} total={data.total} onPage={(next) => set('page', String(next))} />
      )}
    </>
  );
}
