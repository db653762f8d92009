import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useRunKey } from '../../service/queries.js';
import { announce } from '../../ui/notices.js';

/**
 * Mutation that starts a run and opens its page, or calls `onStarted` instead. Repeated requests for the same input
 * start one run. `start` returns undefined if it did not start one.
 */
export function useNewRun<Wish>(
  start: (wish: Wish, idempotencyKey: string) => Promise<string | undefined>,
  onStarted?: (runId: string, wish: Wish) => void,
) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const { keyOf, settle, settleIfRefused } = useRunKey();
  return useMutation({
    mutationFn: (wish: Wish) => start(wish, keyOf(wish)),
    onError: settleIfRefused,
    onSuccess: (runId, wish) => {
      if (runId === undefined) return;
      settle();
      announce('A new run has started.');
      void client.invalidateQueries({ queryKey: ['runs'] });
      if (onStarted === undefined) navigate(`/runs/${runId}`);
      else onStarted(runId, wish);
    },
  });
}
