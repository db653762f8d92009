// The person's projects and what their roles permit there.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type components, type paths } from './api.js';
import { readAllPages } from './calls.js';

export type Project = components['schemas']['Project'];
export type Role = components['schemas']['Role'];

/** The projects of which the person is a member, sorted by name. */
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
 * The person's role in a project, undefined until it has been read. `isKnown` is true once the role has been read, or
 * could not be read.
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

type ProjectChange = NonNullable<
  paths['/api/v1/projects/{id}/']['patch']['requestBody']
>['content']['application/json'];

/**
 * Changes a project of which the person is a member. To an administrator who is not a member, the service returns
 * `{id, name, pool, pools}`, which is no `Project`.
 */
export async function changeProject(id: number, body: ProjectChange): Promise<Project> {
  return (await unwrap(api.PATCH('/api/v1/projects/{id}/', { params: { path: { id } }, body }))) as Project;
}

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

/** True if `role` includes the rights of `minimum`. */
export function mayAct(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

/** True if the person may create workflows in the project. */
export function isWritable({ role }: Project): boolean {
  return mayAct(role, 'editor');
}

/**
 * Returns the `chosen` id; if empty, the first project that the person may write to; if there is none, a new project.
 */
export async function projectToWriteTo(chosen: string): Promise<number> {
  if (chosen !== '') return Number(chosen);
  const project = (await readProjects()).find(isWritable);
  if (project !== undefined) return project.id;
  const made = await unwrap(api.POST('/api/v1/projects/', { body: { name: 'My workflows' } }));
  return made.id;
}
