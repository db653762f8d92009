import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../ui/dialog.js';
import { Problem } from './problem.js';
import { useChange } from './queries.js';

interface ConfirmChangeProps {
  title: string;
  confirmLabel: string;
  isDangerous?: boolean;
  change: Pick<UseMutationResult<unknown, Error, void>, 'error' | 'isPending' | 'mutate'>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before a change and shows why it failed. The change itself must close the dialog when it succeeds. */
export function ConfirmChange({ change, onClose, children, ...asked }: ConfirmChangeProps) {
  return (
    <ConfirmDialog {...asked} isBusy={change.isPending} onConfirm={() => change.mutate()} onCancel={onClose}>
      {children}
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}

interface ConfirmDeleteProps {
  /** Noun of the deleted thing: `hook`. */
  noun: string;
  remove: () => Promise<unknown>;
  /** First parts of the query keys that the deletion makes stale. */
  invalidates: readonly string[];
  onClose: () => void;
  /** Text about the consequences of the deletion. */
  children: ReactNode;
}

export function ConfirmDelete({ noun, remove, invalidates, onClose, children }: ConfirmDeleteProps) {
  const change = useChange(remove, { invalidates, announcement: `The ${noun} is deleted.`, onSuccess: onClose });
  return (
    <ConfirmChange title={`Delete ${noun}`} confirmLabel="Delete" isDangerous change={change} onClose={onClose}>
      <p>{children}</p>
    </ConfirmChange>
  );
}
