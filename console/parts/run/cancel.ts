import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { announce } from '../../ui/notices.js';
import type { RunDetail } from './run-data.js';

/** Cancels the run at once. Finished results remain. */
export function useCancel(run: RunDetail) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/api/v1/workflows/{id}/history/{run_id}/cancel/', {
          params: { path: { id: run.workflow.id, run_id: run.id } },
        }),
      ),
    // Announced before the call, because the end of the run may be announced before the call returns.
    onMutate: () => announce('The run is being cancelled.'),
    onSettled: () => void client.invalidateQueries({ queryKey: ['run', run.id] }),
  });
}
