import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../app/api.js';

type ExampleList =
  paths['/api/v1/workflows/marketplace/{slug}/examples/']['get']['responses'][200]['content']['application/json'];
export type Example =
  paths['/api/v1/workflows/marketplace/{slug}/examples/{run_id}/']['get']['responses'][200]['content']['application/json'];
export type Listed = Pick<ExampleList[number], 'id' | 'created_at' | 'cost'>;

/** The newest ones, without their contents, which may be large. */
export function useExamples(slug: string): UseQueryResult<Listed[]> {
  return useQuery({
    queryKey: ['marketplace', 'examples', slug],
    queryFn: async ({ signal }) => {
      const path = '/api/v1/workflows/marketplace/{slug}/examples/';
      const examples = await unwrap(api.GET(path, { params: { path: { slug } }, signal }));
      return examples.map(({ id, created_at, cost }) => ({ id, created_at, cost }));
    },
    staleTime: 60_000,
  });
}

/** Its results whole. */
export function useExample(slug: string, runId: string): UseQueryResult<Example> {
  return useQuery({
    queryKey: ['marketplace', 'examples', slug, runId],
    queryFn: ({ signal }) => {
      const path = '/api/v1/workflows/marketplace/{slug}/examples/{run_id}/';
      return unwrap(api.GET(path, { params: { path: { slug, run_id: runId } }, signal }));
    },
    staleTime: 60_000,
  });
}
