// The members of a project.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from './api.js';
import { readAllPages } from './calls.js';

type List = paths['/api/v1/projects/{id}/members/']['get']['responses'][200]['content']['application/json'];
export type Member = List['items'][number];

export function useMembers(projectId: number): UseQueryResult<Member[]> {
  return useQuery({
    queryKey: ['members', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) => {
        const params = { path: { id: projectId }, query: { page, size: 100 } };
        return unwrap(api.GET('/api/v1/projects/{id}/members/', { params, signal }));
      }),
  });
}
