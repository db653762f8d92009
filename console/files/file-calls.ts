// Service calls about the files of a project.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../service/api.js';

type FileList = paths['/api/v1/projects/{id}/files/']['get']['responses'][200]['content']['application/json'];
export type ListedFile = FileList['items'][number];

export const ORDERS = [
  { value: '-created_at', label: 'Newest first' },
  { value: 'created_at', label: 'Oldest first' },
  { value: '-size', label: 'Largest first' },
  { value: 'size', label: 'Smallest first' },
] as const;

type FileOrder = (typeof ORDERS)[number]['value'];

interface FilesAsked {
  search: string;
  ordering: FileOrder;
  page: number;
  size: number;
}

export function useFiles(projectId: number, { search, ordering, page, size }: FilesAsked): UseQueryResult<FileList> {
  return useQuery({
    queryKey: ['files', projectId, search, ordering, page, size],
    queryFn: ({ signal }) => {
      const query = { page, size, ordering, ...(search !== '' && { search }) };
      return unwrap(api.GET('/api/v1/projects/{id}/files/', { params: { path: { id: projectId }, query }, signal }));
    },
    placeholderData: (before) => before,
  });
}

export function deleteFile(id: string): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/files/{file_id}/', { params: { path: { file_id: id } } }));
}

const NOUNS = {
  runs: ['run', 'runs'],
  pins: ['pin', 'pins'],
  cases: ['case', 'cases'],
  drawings: ['drawing', 'drawings'],
  schedules: ['schedule', 'schedules'],
  messages: ['message', 'messages'],
} as const;

/** Returns text such as `2 runs, 1 pin`; empty if the file is unused. */
export function usesOf({ used_by: usedBy }: ListedFile): string {
  return Object.entries(NOUNS)
    .flatMap(([key, [one, several]]) => {
      const count = usedBy[key as keyof typeof NOUNS];
      return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
    })
    .join(', ');
}
