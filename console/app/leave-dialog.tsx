import { ConfirmDialog } from '../ui/dialog.js';
import { hold, usePendingLeave } from './leave-guard.js';

export function LeaveDialog() {
  const leave = usePendingLeave();
  if (leave === undefined) return null;
  return (
    <ConfirmDialog
      title="Unsaved changes"
      confirmLabel="Leave"
      cancelLabel="Stay"
      isDangerous
      onCancel={() => hold(undefined)}
      onConfirm={() => {
        hold(undefined);
        leave();
      }}
    >
      <p>What you have changed here is not saved. It is lost when you leave.</p>
    </ConfirmDialog>
  );
}
