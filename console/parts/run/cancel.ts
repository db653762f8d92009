import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { announce } from '../../ui/notices.js';
import type { RunDetail } from './run-data.js';

/** Cancels the run at once. Its results stay, and `Run again` starts another run. */
export function useCancel(run: RunDetail) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/api/v1/workflows/{id}/history/{run_id}/cancel/', {
          params: { path: { id: run.workflow.id, run_id: run.id } },
        }),
      ),
    // This is announced at once, because the end of the run may have been announced when the call is done.
    onMutate: () => announce('The run is being cancelled.'),
    onSettled: () => void client.invalidateQueries({ queryKey: ['run', run.id] }),
  });
}
