// The languages in which a workflow can be published.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from './api.js';
import { readAllPages } from './calls.js';

type Languages = paths['/api/v1/languages/']['get']['responses'][200]['content']['application/json'];
export type Language = Languages['items'][number];

/** The list of languages only changes with a release. */
const STALE_MS = 3_600_000;

export function useLanguages(): UseQueryResult<Language[]> {
  return useQuery({
    queryKey: ['languages'],
    queryFn: ({ signal }) =>
      readAllPages((page) => unwrap(api.GET('/api/v1/languages/', { params: { query: { page, size: 100 } }, signal }))),
    staleTime: STALE_MS,
  });
}

/** Returns `English` for `en`, or the code itself if it is unknown. */
export function languageName(languages: readonly Language[] | undefined, code: string): string {
  return languages?.find((language) => language.code === code)?.name ?? code;
}
