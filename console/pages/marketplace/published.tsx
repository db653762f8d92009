// Service calls about published workflows and their categories. They need no sign-in.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { isZeroDecimal } from '../../../graph/decimal.js';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { Money } from '../../ui/figures.js';

type Path = paths['/api/v1/workflows/marketplace/']['get'];
type Query = NonNullable<Path['parameters']['query']>;
type List = Path['responses'][200]['content']['application/json'];
type Categories = paths['/api/v1/categories/']['get']['responses'][200]['content']['application/json'];
export type Published = List['items'][number];
type Category = Categories['items'][number];
export type Ordering = NonNullable<Query['ordering']>;

export function usePublished(query: Query): UseQueryResult<List> {
  return useQuery({
    queryKey: ['marketplace', 'list', query],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/marketplace/', { params: { query }, signal })),
    placeholderData: (before) => before,
  });
}

export function useCategories(): UseQueryResult<Category[]> {
  return useQuery({
    queryKey: ['categories'],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET('/api/v1/categories/', { params: { query: { page, size: 100 } }, signal })),
      ),
  });
}

/** The fee per successful run of a copy, in addition to the cost of the run's calls. */
export function Fee({ workflow }: { workflow: Pick<Published, 'run_fee' | 'free_runs_per_user'> }) {
  const { run_fee: fee, free_runs_per_user: free } = workflow;
  if (isZeroDecimal(fee)) return <>No fee</>;
  return (
    <>
      <Money amount={{ USD: fee }} /> a run
      {free === 0 ? '' : free === 1 ? ', the first is free' : `, the first ${free} are free`}
    </>
  );
}
