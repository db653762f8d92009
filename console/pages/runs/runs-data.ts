// What the list of runs reads of the service.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../app/api.js';
import { toQuery, type RunFilters } from './run-filters.js';

export type RunsPageData = paths['/api/v1/runs/']['get']['responses'][200]['content']['application/json'];
export type ListedRun = RunsPageData['items'][number];

const OPEN_EVERY_MS = 2_500;
const QUIET_EVERY_MS = 15_000;
/** The service's lists have at most so many. */
const MOST = 100;

/** Asks again and again, more often while a run that is shown is open; not while nobody looks. */
export function useRuns(filters: RunFilters): UseQueryResult<RunsPageData> {
  const query = toQuery(filters);
  return useQuery({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/runs/', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ status }) => status === 'In Progress') === true ? OPEN_EVERY_MS : QUIET_EVERY_MS,
  });
}

interface Choice {
  id: number;
  name: string;
}

/** The projects of the filter. */
export function useProjectChoices(): UseQueryResult<readonly Choice[]> {
  return useQuery({
    queryKey: ['projects', 'choices'],
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET('/api/v1/projects/', { params: { query: { size: MOST } }, signal }))).items,
    staleTime: 60_000,
  });
}

/** The workflows of the filter: those that have run most lately. Only what is shown of them is kept. */
export function useWorkflowChoices(project: number | undefined): UseQueryResult<readonly Choice[]> {
  return useQuery({
    queryKey: ['workflows', 'choices', project],
    queryFn: async ({ signal }) => {
      const given = { size: MOST, ordering: '-last_run_at' as const, ...(project === undefined ? {} : { project }) };
      const { items } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query: given }, signal }));
      return items.map(({ id, title }) => ({ id, name: title }));
    },
    staleTime: 60_000,
  });
}
