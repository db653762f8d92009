import { useSearchParams } from 'wouter';
import { useTyped } from '../../app/search-state.js';

export interface Filters {
  /** An id, or empty for all. */
  project: string;
  search: string;
  page: number;
}

/** The filters live in the address, so that they can be sent to somebody, and the back button knows them. */
export function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters: Filters = {
    project: toId(params.get('project')),
    search: params.get('search') ?? '',
    page: Number(toId(params.get('page')) || 1),
  };
  const set = (change: Record<string, string>): void => {
    setParams(
      (last) => {
        const next = new URLSearchParams(last);
        for (const [name, value] of Object.entries(change)) {
          if (value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  };
  const [search, setSearch] = useTyped(filters.search, (text) => set({ search: text, page: '' }));
  return {
    filters,
    search,
    setSearch,
    setProject: (project: string) => set({ project, page: '' }),
    setPage: (page: number) => set({ page: page === 1 ? '' : String(page) }),
    clear: () => {
      setSearch('');
      set({ project: '', search: '', page: '' });
    },
  };
}

function toId(text: string | null): string {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? text : '';
}
