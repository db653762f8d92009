import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, unwrap } from '../../app/api.js';

/** Titles of node kinds by their words in drawings; empty until they are known. */
export function useKindTitles(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  return useMemo(() => new Map((data ?? []).map(({ type, title }) => [type, title])), [data]);
}
