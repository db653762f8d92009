// Service calls of the list of workflows.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../service/api.js';
import type { Project } from '../../service/projects.js';

export interface Filters {
  /** Project id, or empty for all. */
  project: string;
  /** Empty for all. */
  tag: string;
  search: string;
  /** Value of one of `ORDERS`. */
  order: string;
  page: number;
}

type CatalogPage = paths['/api/v1/all-workflows/']['get']['responses']['200']['content']['application/json'];
export type ListedWorkflow = CatalogPage['items'][number];

const SIZE = 20;

/** Bookmarked workflows are first in every order. */
export const ORDERS = [
  { value: '', label: 'Newest first', ordering: '-created_at' },
  { value: 'oldest', label: 'Oldest first', ordering: 'created_at' },
  { value: 'ran', label: 'Last run first', ordering: '-last_run_at' },
  { value: 'dearest', label: 'Most expensive first', ordering: '-total_cost' },
] as const;

export function useWorkflows({ project, tag, search, order, page }: Filters) {
  const { ordering } = ORDERS.find(({ value }) => value === order) ?? ORDERS[0];
  return useQuery({
    queryKey: ['workflows', { project, tag, search, ordering, page }],
    queryFn: ({ signal }) => {
      const query = {
        page,
        size: SIZE,
        ordering,
        include: 'latest_runs' as const,
        ...(project !== '' && { project: Number(project) }),
        ...(tag !== '' && { tag: [tag] }),
        ...(search !== '' && { search }),
      };
      return unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** Tags are loaded by one request per project, so only the tags of this many projects are offered. */
const MOST_PROJECTS = 20;

/** Returns the tags of the projects, each once, in alphabetical order. */
export function useTags(projects: readonly Project[]): string[] {
  return useQueries({
    queries: projects.slice(0, MOST_PROJECTS).map(({ id }) => ({
      queryKey: ['workflows', 'tags', id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        unwrap(api.GET('/api/v1/projects/{id}/tags/', { params: { path: { id } }, signal })),
      staleTime: 60_000,
    })),
    combine: toTags,
  });
}

function toTags(found: readonly { data: { tag: string }[] | undefined }[]): string[] {
  const tags = new Set(found.flatMap(({ data = [] }) => data.map(({ tag }) => tag)));
  return [...tags].toSorted((one, other) => one.localeCompare(other));
}
