import { QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import { createIdempotencyKey, RunRefusedError, ServiceError } from '../../clients/typescript/src/index.js';
import { announce } from '../ui/notices.js';

/** The client of the service repeats calls by itself (calls.ts), and says when the connection is lost. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});

interface Consequences<Output, Input> {
  /** The first words of the query keys that a success makes old. */
  invalidates: readonly string[];
  /** The sentence that screen readers are told. */
  said: string;
  onSuccess?: (output: Output, input: Input) => void;
}

/** A change of something stored. Its success is announced, and what it makes old is read again. */
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

/** Returns the handler of a form that makes the change. A second submission while the change is pending does nothing. */
export function submits({ isPending, mutate }: { isPending: boolean; mutate: () => void }) {
  return (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    if (!isPending) mutate();
  };
}

/**
 * Keys for starting runs. One click is one run, however often its request is repeated, so the same wish keeps its key until
 * it is settled. Another wish gets another key.
 */
export function useRunKey() {
  const asked = useRef<{ wish: string; key: string }>(undefined);
  return {
    keyOf: (wish: unknown): string => {
      const text = JSON.stringify(wish) ?? '';
      if (asked.current?.wish !== text) asked.current = { wish: text, key: createIdempotencyKey() };
      return asked.current.key;
    },
    settle: (): void => {
      asked.current = undefined;
    },
    /** A refusal is final, so the next click is another run. After any other error the run may exist. */
    settleIfRefused: (error: unknown): void => {
      const isRefusal = error instanceof RunRefusedError || (error instanceof ServiceError && error.status < 500);
      if (isRefusal) asked.current = undefined;
    },
  };
}
