import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../../app/api.js';
import { byType, type NodeKinds } from '../../drawing/drawing.js';

/** The kinds of nodes by their words in drawings; none until they are known. */
export function useKinds(): NodeKinds {
  const { data } = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  return useMemo(() => byType(data ?? []), [data]);
}
