import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../service/api.js';

type Route = paths['/api/v1/audit/']['get'];
type List = Route['responses'][200]['content']['application/json'];
export type AuditRecord = List['items'][number];
type AuditAction = AuditRecord['action'];

/** Empty texts mean no filter. */
export interface AuditFilters {
  action: AuditAction | '';
  user: string;
  /** Days of UTC, both inclusive. */
  from: string;
  to: string;
  page: number;
}

const PAGE_SIZE = 25;

/** Loads the audit records of a project, or those of all projects and of the service if `projectId` is undefined. */
export function useAudit(projectId: number | undefined, filters: AuditFilters): UseQueryResult<List> {
  return useQuery({
    queryKey: ['audit', projectId, filters],
    queryFn: ({ signal }) => {
      const { action, user, from, to, page } = filters;
      const query = {
        page,
        size: PAGE_SIZE,
        ...(action !== '' && { action }),
        ...(user !== '' && { user: Number(user) }),
        ...(from !== '' && { from }),
        ...(to !== '' && { to }),
      };
      return projectId === undefined
        ? unwrap(api.GET('/api/v1/audit/', { params: { query }, signal }))
        : unwrap(api.GET('/api/v1/projects/{id}/audit/', { params: { path: { id: projectId }, query }, signal }));
    },
    placeholderData: (before) => before,
  });
}

/** Loads the first hundred users as options of the filter. */
export function useUserChoices(): UseQueryResult<{ id: number; name: string }[]> {
  return useQuery({
    queryKey: ['users', 'choices'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/users/', { params: { query: { size: 100 } }, signal })),
    select: ({ items }) => items,
  });
}

/** Texts of the actions, in the order of the filter. The type makes sure that none is missing. */
export const ACTIONS: Readonly<Record<AuditAction, string>> = {
  'project.created': 'Created project',
  'project.changed': 'Changed project',
  'project.deleted': 'Deleted project',
  'member.added': 'Added member',
  'member.changed': 'Changed role of member',
  'member.removed': 'Removed member',
  'service.created': 'Added service',
  'service.changed': 'Replaced document of service',
  'service.deleted': 'Deleted service',
  'workflow.created': 'Created workflow',
  'workflow.checked': 'Checked drawing of workflow',
  'workflow.drafted': 'Kept draft of workflow',
  'workflow.estimated': 'Estimated test of workflow',
  'workflow.bookmarked': 'Bookmarked workflow',
  'workflow.changed': 'Changed workflow',
  'workflow.moved': 'Moved workflow',
  'workflow.duplicated': 'Duplicated workflow',
  'workflow.imported': 'Imported workflow',
  'workflow.copied': 'Copied workflow from the marketplace',
  'workflow.restored': 'Restored version of workflow',
  'workflow.published': 'Published workflow',
  'workflow.unpublished': 'Unpublished workflow',
  'workflow.deleted': 'Deleted workflow',
  'case.created': 'Created case',
  'case.changed': 'Changed case',
  'case.deleted': 'Deleted case',
  'case_run.cancelled': 'Cancelled run of cases',
  'pin.changed': 'Pinned result',
  'pin.deleted': 'Removed pin',
  'conversation.created': 'Began conversation',
  'conversation.changed': 'Renamed conversation',
  'conversation.deleted': 'Deleted conversation',
  'file.uploaded': 'Uploaded file',
  'file.deleted': 'Deleted file',
  'file_link.created': 'Made link to file',
  'run.started': 'Started run',
  'run.reported': 'Reported how run goes',
  'run.cancelled': 'Cancelled run',
  'run.flagged': 'Marked run',
  'approval.approved': 'Approved tool call',
  'approval.rejected': 'Rejected tool call',
  'human_task.answered': 'Answered task',
  'callback.accepted': 'Answered callback',
  'hook.created': 'Created hook',
  'hook.changed': 'Changed secret of hook',
  'hook.deleted': 'Deleted hook',
  'hook.refused': 'Delivered to hook',
  'schedule.created': 'Created schedule',
  'schedule.changed': 'Changed schedule',
  'schedule.paused': 'Paused schedule by itself',
  'schedule.deleted': 'Deleted schedule',
  'key.created': 'Created API key',
  'key.changed': 'Changed API key',
  'key.deleted': 'Deleted API key',
  'provider_key.added': 'Added provider key',
  'provider_key.removed': 'Deleted provider key',
  'connection.created': 'Created connection',
  'connection.changed': 'Changed connection',
  'connection.authorized': 'Signed in for connection',
  'connection.used': 'Used connection',
  'connection.deleted': 'Removed connection',
  'mcp_tools.listed': 'Listed tools of MCP server',
  'tool.called': 'Called tool',
  'chat.called': 'Called model',
  'webhook_secret.renewed': 'Renewed signing secret',
  'webhook_delivery.sent_again': 'Sent event again',
  'login.succeeded': 'Signed in',
  'login.refused': 'Tried to sign in',
  'session.ended': 'Ended session',
  'session.refreshed': 'Refreshed session',
  'password.changed': 'Changed password',
  'password_link.created': 'Made password link',
  'sign_in_link.created': 'Made sign-in link',
  'token.issued': 'Issued session token',
  'user.created': 'Created user',
  'user.changed': 'Changed user',
  'category.created': 'Created category',
  'category.deleted': 'Deleted category',
  'secrets.reencrypted': 'Sealed secrets with the newest key',
  'signals.resent': 'Told runs all answers again',
};

export const ACTION_OPTIONS = [
  { value: '', label: 'Any action' },
  ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label })),
];
