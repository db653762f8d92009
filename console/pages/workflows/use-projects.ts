import { useQuery } from '@tanstack/react-query';
import { api, unwrap, type components } from '../../app/api.js';

export type Project = components['schemas']['Project'];

/** All projects of the person, by name. */
export function useProjects() {
  return useQuery({ queryKey: ['projects', 'all'], queryFn: ({ signal }) => readProjects(signal) });
}

export async function readProjects(signal?: AbortSignal): Promise<Project[]> {
  const all: Project[] = [];
  for (let page = 1; ; page += 1) {
    const params = { query: { page, size: 100 } };
    const { items, total } = await unwrap(
      api.GET('/api/v1/projects/', { params, ...(signal === undefined ? {} : { signal }) }),
    );
    all.push(...items);
    if (items.length === 0 || all.length >= total) return all.toSorted((a, b) => a.name.localeCompare(b.name));
  }
}

/** Where the person may make workflows. */
export function isWritable({ role }: Project): boolean {
  return role !== 'viewer';
}

/** The project to make a workflow in: the given one, else the first that the person may write to, else a new one. */
export async function projectToWriteTo(given: string): Promise<number> {
  if (given !== '') return Number(given);
  const project = (await readProjects()).find(isWritable);
  if (project !== undefined) return project.id;
  const made = await unwrap(api.POST('/api/v1/projects/', { body: { name: 'My workflows' } }));
  return made.id;
}
