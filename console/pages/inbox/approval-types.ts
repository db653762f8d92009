import type { paths } from '../../../clients/typescript/src/index.js';

export type ApprovalList = paths['/api/v1/agent-approvals/']['get']['responses'][200]['content']['application/json'];
export type Approval = ApprovalList['items'][number];
export type ApprovalFilter = 'pending' | 'decided' | 'approved' | 'rejected' | 'expired';
export type Verdict = 'approve' | 'reject';
