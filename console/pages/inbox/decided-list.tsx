import { listApprovals } from './approval.js';
import type { ApprovalFilter } from './approval-types.js';
import { EndedList } from './ended-list.js';
import { RequestArticle } from './request-article.js';

const APPROVAL_OUTCOMES = [
  { value: 'decided', label: 'Approved and rejected' },
  { value: 'approved', label: 'Approved' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
] as const satisfies { value: ApprovalFilter; label: string }[];

export function DecidedList() {
  return (
    <EndedList
      name="approvals"
      noun="request"
      outcomes={APPROVAL_OUTCOMES}
      list={listApprovals}
      idOf={(request) => request.request_id}
    >
      {(request, onChange) => <RequestArticle request={request} onChange={onChange} isLinked />}
    </EndedList>
  );
}
