import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../app/api.js';
import type { Filters } from './use-filters.js';

export type ListedWorkflow =
  paths['/api/v1/all-workflows/']['get']['responses']['200']['content']['application/json']['items'][number];

const SIZE = 20;

export function useWorkflows({ project, search, page }: Filters) {
  return useQuery({
    queryKey: ['workflows', { project, search, page }],
    queryFn: ({ signal }) => {
      const query = {
        page,
        size: SIZE,
        ...(project !== '' && { project: Number(project) }),
        ...(search !== '' && { search }),
      };
      return unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
