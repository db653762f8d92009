import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../ui/dialog.js';
import { Problem } from './problem.js';

interface ConfirmChangeProps {
  title: string;
  confirmLabel: string;
  /** Whether the change cannot be undone. */
  isDangerous?: boolean;
  change: Pick<UseMutationResult<unknown, Error, void>, 'error' | 'isPending' | 'mutate'>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before a change is made, and says why it has failed. The change closes it when it succeeds. */
export function ConfirmChange({ change, onClose, children, ...asked }: ConfirmChangeProps) {
  return (
    <ConfirmDialog {...asked} isBusy={change.isPending} onConfirm={() => change.mutate()} onCancel={onClose}>
      {children}
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
