import { QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import { createIdempotencyKey, RunRefusedError, ServiceError } from '../../clients/typescript/src/index.js';
import { announce } from '../ui/notices.js';

/**
 * The client of the service (api.ts) does the retries, and its calls reject without a connection, so queries neither
 * retry nor wait until the browser is online.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 2_000 },
    mutations: { retry: false, networkMode: 'always' },
  },
});

interface Consequences<Output, Input> {
  /** First parts of the query keys that a success makes stale. */
  invalidates: readonly string[];
  /** Sentence for screen readers after a success. */
  announcement: string;
  onSuccess?: (output: Output, input: Input) => void;
}

/** A mutation that announces its success and reloads the queries that it made stale. */
export function useChange<Output, Input = void>(
  change: (input: Input) => Promise<Output>,
  { invalidates, announcement, onSuccess }: Consequences<Output, Input>,
): UseMutationResult<Output, Error, Input> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async (output, input) => {
      announce(announcement);
      onSuccess?.(output, input);
      await Promise.all(invalidates.map((key) => queries.invalidateQueries({ queryKey: [key] })));
    },
  });
}

/** Returns a submit handler that starts the mutation unless it is pending. */
export function submitHandler({ isPending, mutate }: { isPending: boolean; mutate: () => void }) {
  return (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    if (!isPending) mutate();
  };
}

/**
 * Idempotency keys for starting runs. Repeated requests of one click must start one run, so the same request retains
 * its key until the request is settled. A different request gets a new key.
 */
export function useRunKey() {
  const last = useRef<{ request: string; key: string }>(undefined);
  return {
    keyOf: (request: unknown): string => {
      const text = JSON.stringify(request) ?? '';
      if (last.current?.request !== text) last.current = { request: text, key: createIdempotencyKey() };
      return last.current.key;
    },
    settle: (): void => {
      last.current = undefined;
    },
    /**
     * A refusal is final, so the next click starts another run. After any other error the run may exist, including 401
     * and 429: the client retries a request that got no response, and the first attempt may have started the run.
     */
    settleIfRefused: (error: unknown): void => {
      const isFinal = (status: number): boolean => status < 500 && status !== 401 && status !== 429;
      const isRefusal = error instanceof RunRefusedError || (error instanceof ServiceError && isFinal(error.status));
      if (isRefusal) last.current = undefined;
    },
  };
}
