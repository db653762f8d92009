import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';

type List = paths['/api/v1/projects/{id}/provider-keys/']['get']['responses'][200]['content']['application/json'];
export type ProviderKey = List['items'][number];

const KEYS = '/api/v1/projects/{id}/provider-keys/';

/** A project has at most 100. */
export function useProviderKeys(projectId: number): UseQueryResult<ProviderKey[]> {
  return useQuery({
    queryKey: ['provider-keys', projectId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(KEYS, { params: { path: { id: projectId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

export function addProviderKey(projectId: number, body: { provider: string; key: string; name: string }) {
  return unwrap(api.POST(KEYS, { params: { path: { id: projectId } }, body }));
}

export function deleteProviderKey(projectId: number, keyId: number): Promise<unknown> {
  const path = { id: projectId, key_id: keyId };
  return unwrap(api.DELETE('/api/v1/projects/{id}/provider-keys/{key_id}/', { params: { path } }));
}
