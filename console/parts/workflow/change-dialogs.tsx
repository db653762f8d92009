import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { ConfirmChange, ConfirmDelete } from '../../service/confirm-change.js';

interface WorkflowDialogProps {
  workflow: { id: number; title: string };
  onClose: () => void;
}

interface DuplicateProps extends WorkflowDialogProps {
  /** Called first; if it returns false, the workflow is not copied. */
  prepare?: () => Promise<boolean>;
  /** Sentence about what is done first. */
  children?: ReactNode;
}

/** Copies the workflow within its project and opens the copy. */
export function DuplicateWorkflow({ workflow: { id, title }, prepare, children, onClose }: DuplicateProps) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const duplicate = useMutation({
    mutationFn: async () => {
      if ((await prepare?.()) === false) return;
      const params = { path: { id } };
      const copy = await unwrap(api.POST('/api/v1/workflows/{id}/duplicate/', { params }));
      void queries.invalidateQueries({ queryKey: ['workflows'] });
      onClose();
      navigate(`/workflows/${copy.id}`);
    },
  });
  return (
    <ConfirmChange title="Duplicate workflow" confirmLabel="Duplicate" change={duplicate} onClose={onClose}>
      <p>
        A copy of “{title}” is made in the same project, with its secrets, and opened.
        {children}
      </p>
    </ConfirmChange>
  );
}

interface DeleteProps extends WorkflowDialogProps {
  onDeleted?: () => void;
}

export function DeleteWorkflow({ workflow: { id, title }, onDeleted, onClose }: DeleteProps) {
  const remove = async (): Promise<void> => {
    await unwrap(api.DELETE('/api/v1/workflows/{id}/', { params: { path: { id } } }));
    onDeleted?.();
  };
  return (
    <ConfirmDelete noun="workflow" remove={remove} invalidates={['workflows']} onClose={onClose}>
      “{title}” is gone from every list, and its open runs are cancelled. Its runs stay in the project’s books.
    </ConfirmDelete>
  );
}
