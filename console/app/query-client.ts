import { QueryClient } from '@tanstack/react-query';

/** The client of the service repeats by itself (retries.ts), and says when the connection is lost. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});
