import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../../app/api.js';
import { explain } from '../../../app/explain.js';
import { Alert } from '../../../ui/alert.js';
import { announce } from '../../../ui/announce.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import type { RunDetail } from '../run-data.js';

/** Asks before the run is cancelled. */
export function CancelDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/api/v1/workflows/{id}/history/{run_id}/cancel/', {
          params: { path: { id: run.workflow.id, run_id: run.id } },
        }),
      ),
    onSuccess: () => {
      announce('The run is being cancelled.');
      onClose();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['run', run.id] }),
  });
  return (
    <ConfirmDialog
      title="Cancel this run?"
      confirmLabel="Cancel the run"
      cancelLabel="Let it run"
      isDangerous
      isBusy={cancel.isPending}
      onConfirm={() => cancel.mutate()}
      onCancel={onClose}
    >
      <p>Nodes that are in progress are stopped. What has been done and paid for stays.</p>
      {cancel.isError && <Alert>{explain(cancel.error)}</Alert>}
    </ConfirmDialog>
  );
}
