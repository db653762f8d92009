import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap } from './api.js';
import { readAllPages } from './calls.js';

interface TitledWorkflow {
  id: number;
  title: string;
}

/** The workflows of a project by title. */
export function useProjectWorkflows(projectId: number): UseQueryResult<TitledWorkflow[]> {
  return useQuery({
    queryKey: ['workflows', 'of-project', projectId],
    queryFn: async ({ signal }) => {
      const all = await readAllPages((page) => {
        const filter = { project: projectId, page, size: 100 };
        return unwrap(api.GET('/api/v1/all-workflows/', { params: { query: filter }, signal }));
      });
      return all.map(({ id, title }) => ({ id, title })).toSorted((one, other) => one.title.localeCompare(other.title));
    },
    staleTime: 30_000,
  });
}
