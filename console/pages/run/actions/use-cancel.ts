import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../../app/api.js';
import { announce } from '../../../ui/notices.js';
import type { RunDetail } from '../run-data.js';

/** Cancels the run at once: what it has done stays, and `Run again` starts another one. */
export function useCancel(run: RunDetail) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/api/v1/workflows/{id}/history/{run_id}/cancel/', {
          params: { path: { id: run.workflow.id, run_id: run.id } },
        }),
      ),
    // Not when it is done: the end of the run may have been told by then.
    onMutate: () => announce('The run is being cancelled.'),
    onSettled: () => void client.invalidateQueries({ queryKey: ['run', run.id] }),
  });
}
