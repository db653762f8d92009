import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../ui/dialog.js';
import { Problem } from './problem.js';
import { useChange } from './queries.js';

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

interface ConfirmDeleteProps {
  /** The word for what is deleted: `hook`. */
  noun: string;
  remove: () => Promise<unknown>;
  /** The first words of the query keys that the deletion makes old. */
  invalidates: readonly string[];
  onClose: () => void;
  /** The text says what the deletion brings about. */
  children: ReactNode;
}

/** Asks before something is deleted for good. */
export function ConfirmDelete({ noun, remove, invalidates, onClose, children }: ConfirmDeleteProps) {
  const change = useChange(remove, { invalidates, said: `The ${noun} is deleted.`, onSuccess: onClose });
  return (
    <ConfirmChange title={`Delete ${noun}`} confirmLabel="Delete" isDangerous change={change} onClose={onClose}>
      <p>{children}</p>
    </ConfirmChange>
  );
}
