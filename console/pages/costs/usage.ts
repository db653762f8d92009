import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../app/api.js';
import type { Span } from './span.js';

type Path = paths['/api/v1/usage/']['get'];
export type Usage = Path['responses'][200]['content']['application/json'][number];
export type UsageGroup = 'day' | 'workflow' | 'model';

/** What the person's projects have used, or one of them. */
export function useUsage(
  groupBy: UsageGroup,
  { from, to }: Span,
  project: number | undefined,
): UseQueryResult<Usage[]> {
  return useQuery({
    queryKey: ['usage', groupBy, from, to, project],
    queryFn: ({ signal }) => {
      const query = { group_by: groupBy, from, to, ...(project !== undefined && { project }) };
      return unwrap(api.GET('/api/v1/usage/', { params: { query }, signal }));
    },
    placeholderData: (before) => before,
    staleTime: 30_000,
  });
}

/** The currencies of amounts, USD first: prices are in it. */
export function currenciesOf(rows: readonly Usage[]): string[] {
  const codes = new Set(rows.flatMap(({ amount }) => Object.keys(amount)));
  return [...codes].toSorted(
    (one, other) => Number(other === 'USD') - Number(one === 'USD') || one.localeCompare(other),
  );
}
