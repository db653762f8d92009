import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type components } from '../../app/api.js';
import { readAllPages } from '../../app/calls.js';

export type Project = components['schemas']['Project'];
export type Role = components['schemas']['Role'];

/** All projects of the person, by name: the choices of a combobox. */
export function useProjects(): UseQueryResult<Project[]> {
  return useQuery({
    queryKey: ['projects', 'all'],
    queryFn: ({ signal }) =>
      readAllPages((page) => unwrap(api.GET('/api/v1/projects/', { params: { query: { page, size: 100 } }, signal }))),
    select: byName,
    staleTime: 30_000,
  });
}

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

/** Whether a role permits what needs `minimum`. */
export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

function byName(projects: readonly Project[]): Project[] {
  return projects.toSorted((one, other) => one.name.localeCompare(other.name) || one.id - other.id);
}
