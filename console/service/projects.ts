// The person's projects, and what their roles permit there.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type components } from './api.js';
import { readAllPages } from './calls.js';

export type Project = components['schemas']['Project'];
export type Role = components['schemas']['Role'];

/** All projects of the person, by name. */
export function useProjects(): UseQueryResult<Project[]> {
  return useQuery({ queryKey: ['projects', 'all'], queryFn: ({ signal }) => readProjects(signal) });
}

export async function readProjects(signal?: AbortSignal): Promise<Project[]> {
  const projects = await readAllPages((page) => {
    const params = { query: { page, size: 100 } };
    return unwrap(api.GET('/api/v1/projects/', { params, ...(signal && { signal }) }));
  });
  return projects.toSorted((one, other) => one.name.localeCompare(other.name) || one.id - other.id);
}

/**
 * The person's role in a project; undefined until it is known. `isKnown` is true as well when the role cannot be read.
 */
export function useProjectRole(projectId: number, isWanted = true): { role: Role | undefined; isKnown: boolean } {
  const { data, isPending } = useQuery({
    queryKey: ['projects', 'one', projectId],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/projects/{id}/', { params: { path: { id: projectId } }, signal })),
    enabled: isWanted,
    staleTime: 60_000,
  });
  return { role: data?.role, isKnown: !isPending };
}

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

/** Returns whether a role permits what needs at least `minimum`. */
export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** Returns whether the person may make workflows in the project. */
export function isWritable({ role }: Project): boolean {
  return mayAct(role, 'editor');
}

/** Returns the id of the given project, else of the first that the person may write to, else of a new one. */
export async function projectToWriteTo(given: string): Promise<number> {
  if (given !== '') return Number(given);
  const project = (await readProjects()).find(isWritable);
  if (project !== undefined) return project.id;
  const made = await unwrap(api.POST('/api/v1/projects/', { body: { name: 'My workflows' } }));
  return made.id;
}
