import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { useStore } from '../../drawing/editor-store.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Alert } from '../../ui/notices.js';
import type { Saver } from './saver.js';
import { useAction } from './use-action.js';

export function DeleteDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const store = useStore();
  const { id, title } = saver.getState().workflow;
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const remove = useAction(async () => {
    await unwrap(api.DELETE('/api/v1/workflows/{id}/', { params: { path: { id } } }));
    // What is unsaved is meant to go, too: leaving does not ask.
    store.takeOver(store.drawing);
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    setTimeout(() => navigate('/workflows'));
  });
  return (
    <ConfirmDialog
      title="Delete workflow"
      confirmLabel="Delete"
      isDangerous
      isBusy={remove.isRunning}
      onCancel={onClose}
      onConfirm={() => void remove.run()}
    >
      <p>“{title}” is gone from every list, and its open runs are cancelled. Its runs stay in the project’s books.</p>
      {remove.error !== undefined && <Alert>{explain(remove.error)}</Alert>}
    </ConfirmDialog>
  );
}
