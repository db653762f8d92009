import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';
import type { ListedSession } from './session-facts.js';

type List = paths['/api/v1/users/']['get']['responses'][200]['content']['application/json'];
export type Listed = List['items'][number];

export interface UserFields {
  name: string;
  email: string | null;
  api_access: boolean;
  is_admin: boolean;
}

export type PasswordLink =
  paths['/api/v1/users/{id}/password-link/']['post']['responses'][201]['content']['application/json'];

const PAGE_SIZE = 25;

export function useUsers(search: string, page: number): UseQueryResult<List> {
  return useQuery({
    queryKey: ['users', search, page],
    queryFn: ({ signal }) => {
      const query = { page, size: PAGE_SIZE, ...(search !== '' && { search }) };
      return unwrap(api.GET('/api/v1/users/', { params: { query }, signal }));
    },
    placeholderData: (before) => before,
  });
}

export function createUser(body: UserFields): Promise<Listed> {
  return unwrap(api.POST('/api/v1/users/', { body }));
}

export function changeUser(id: number, body: Partial<UserFields & Pick<Listed, 'is_active'>>): Promise<Listed> {
  return unwrap(api.PATCH('/api/v1/users/{id}/', { params: { path: { id } }, body }));
}

export function makePasswordLink(id: number): Promise<PasswordLink> {
  return unwrap(api.POST('/api/v1/users/{id}/password-link/', { params: { path: { id } } }));
}

export function useSessionsOf(id: number): UseQueryResult<ListedSession[]> {
  return useQuery({
    queryKey: ['user-sessions', id],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(
          api.GET('/api/v1/users/{id}/sessions/', { params: { path: { id }, query: { page, size: 100 } }, signal }),
        ),
      ),
  });
}

export function endSessionsOf(id: number): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/users/{id}/sessions/', { params: { path: { id } } }));
}
