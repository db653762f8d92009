import { QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { announce } from '../ui/notices.js';

/** The client of the service repeats by itself (retries.ts), and says when the connection is lost. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});

interface Consequences<Output, Input> {
  /** The first words of the query keys that a success makes old. */
  invalidates: readonly string[];
  /** Told to screen readers. */
  said: string;
  onSuccess?: (output: Output, input: Input) => void;
}

/** A change: what was read before is read again, and its success is told. */
export function useChange<Output, Input = void>(
  change: (input: Input) => Promise<Output>,
  { invalidates, said, onSuccess }: Consequences<Output, Input>,
): UseMutationResult<Output, Error, Input> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async (output, input) => {
      announce(said);
      onSuccess?.(output, input);
      await Promise.all(invalidates.map((key) => queries.invalidateQueries({ queryKey: [key] })));
    },
  });
}
