import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';

type List = paths['/api/v1/projects/{id}/webhook-deliveries/']['get']['responses'][200]['content']['application/json'];
export type Delivery = List['items'][number];

const ASK_EVERY_MS = 5_000;
const PAGE_SIZE = 20;

/** They change while one looks at them. */
export function useDeliveries(projectId: number, page: number): UseQueryResult<List> {
  return useQuery({
    queryKey: ['deliveries', projectId, page],
    queryFn: ({ signal }) => {
      const params = { path: { id: projectId }, query: { page, size: PAGE_SIZE } };
      return unwrap(api.GET('/api/v1/projects/{id}/webhook-deliveries/', { params, signal }));
    },
    refetchInterval: ASK_EVERY_MS,
    placeholderData: (before) => before,
  });
}

export function sendAgain(projectId: number, deliveryId: string): Promise<Delivery> {
  const path = { id: projectId, delivery_id: deliveryId };
  return unwrap(api.POST('/api/v1/projects/{id}/webhook-deliveries/{delivery_id}/send-again/', { params: { path } }));
}
