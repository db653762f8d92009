import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';

type Route = paths['/api/v1/audit/']['get'];
type List = Route['responses'][200]['content']['application/json'];
export type AuditRecord = List['items'][number];
export type AuditAction = AuditRecord['action'];

/** Empty texts are no filters. */
export interface AuditFilters {
  action: AuditAction | '';
  /** A user's id. */
  user: string;
  /** Days, both included. */
  from: string;
  to: string;
  page: number;
}

const PAGE_SIZE = 25;

/** Without a project: of all projects and of what belongs to none. */
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

/** The first hundred users: whom the filter offers. */
export function useUserChoices(): UseQueryResult<{ id: number; name: string }[]> {
  return useQuery({
    queryKey: ['users', 'choices'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/users/', { params: { query: { size: 100 } }, signal })),
    select: ({ items }) => items,
  });
}
