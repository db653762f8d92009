import { useQuery } from '@tanstack/react-query';
import { api, unwrap, type components } from '../../app/api.js';

type Role = components['schemas']['Role'];

/** The person's role in a project; undefined until it is known. `isKnown` also where it cannot be read. */
export function useProjectRole(projectId: number, isWanted: boolean): { role: Role | undefined; isKnown: boolean } {
  const { data, isPending } = useQuery({
    queryKey: ['projects', 'one', projectId],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/projects/{id}/', { params: { path: { id: projectId } }, signal })),
    enabled: isWanted,
    staleTime: 60_000,
  });
  return { role: data?.role, isKnown: !isPending };
}
