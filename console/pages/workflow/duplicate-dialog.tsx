import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { useEditor } from '../../drawing/editor-store.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Alert } from '../../ui/notices.js';
import type { Saver } from './saver.js';
import { useAction } from './use-action.js';

export function DuplicateDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const { id, title } = saver.getState().workflow;
  const isDirty = useEditor((state) => state.isDirty);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const duplicate = useAction(async () => {
    const isSaved = await saver.save();
    const { error } = saver.getState();
    if (error !== undefined) throw error;
    if (!isSaved) return;
    const params = { path: { id } };
    const copy = await unwrap(api.POST('/api/v1/workflows/{id}/duplicate/', { params }));
    void queries.invalidateQueries({ queryKey: ['workflows'] });
    onClose();
    navigate(`/workflows/${copy.id}`);
  });
  return (
    <ConfirmDialog
      title="Duplicate workflow"
      confirmLabel="Duplicate"
      isBusy={duplicate.isRunning}
      onCancel={onClose}
      onConfirm={() => void duplicate.run()}
    >
      <p>
        A copy of “{title}” is made in the same project, with its secrets, and opened.
        {isDirty && ' Your unsaved changes are saved first.'}
      </p>
      {duplicate.error !== undefined && <Alert>{explain(duplicate.error)}</Alert>}
    </ConfirmDialog>
  );
}
