import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';
import type { Role } from '../use-projects.js';

type List = paths['/api/v1/projects/{id}/members/']['get']['responses'][200]['content']['application/json'];
export type Member = List['items'][number];
type Who = { email: string } | { user_id: number };

const MEMBERS = '/api/v1/projects/{id}/members/';
const MEMBER = '/api/v1/projects/{id}/members/{user_id}/';

export function useMembers(projectId: number): UseQueryResult<Member[]> {
  return useQuery({
    queryKey: ['members', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(MEMBERS, { params: { path: { id: projectId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

export function addMember(projectId: number, who: Who, role: Role): Promise<Member> {
  return unwrap(api.POST(MEMBERS, { params: { path: { id: projectId } }, body: { ...who, role } }));
}

export function changeRole(projectId: number, userId: number, role: Role): Promise<Member> {
  return unwrap(api.PATCH(MEMBER, { params: { path: { id: projectId, user_id: userId } }, body: { role } }));
}

export function removeMember(projectId: number, userId: number): Promise<unknown> {
  return unwrap(api.DELETE(MEMBER, { params: { path: { id: projectId, user_id: userId } } }));
}
