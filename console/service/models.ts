import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './api.js';

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => unwrap(api.GET('/api/v1/models/', { signal })),
  staleTime: 300_000,
});
