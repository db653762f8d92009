import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';

type List = paths['/api/v1/users/']['get']['responses'][200]['content']['application/json'];
export type Listed = List['items'][number];

export interface UserFields {
  name: string;
  email: string | null;
  api_access: boolean;
  is_admin: boolean;
}

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

export function changeUser(id: number, body: Partial<UserFields>): Promise<Listed> {
  return unwrap(api.PATCH('/api/v1/users/{id}/', { params: { path: { id } }, body }));
}
