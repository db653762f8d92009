import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';
import type { KeyBody } from './key-fields.js';

type List = paths['/api/v1/api-keys/']['get']['responses'][200]['content']['application/json'];
export type Key = List['items'][number];
export type NewKey = paths['/api/v1/api-keys/']['post']['responses'][201]['content']['application/json'];

/** A user has at most 100. */
export function useKeys(): UseQueryResult<Key[]> {
  return useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) =>
      readAllPages((page) => unwrap(api.GET('/api/v1/api-keys/', { params: { query: { page, size: 100 } }, signal }))),
  });
}

export function createKey(body: KeyBody): Promise<NewKey> {
  return unwrap(api.POST('/api/v1/api-keys/', { body }));
}

export function changeKey(id: number, body: KeyBody): Promise<Key> {
  return unwrap(api.PATCH('/api/v1/api-keys/{id}/', { params: { path: { id } }, body }));
}

export function deleteKey(id: number): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
}
