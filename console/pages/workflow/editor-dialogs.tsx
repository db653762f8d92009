import { lazy, Suspense, useSyncExternalStore } from 'react';
import { ErrorBoundary } from '../../app/problem.js';
import { ConflictDialog } from './conflict-dialog.js';
import { DeleteDialog } from './delete-dialog.js';
import { DuplicateDialog } from './duplicate-dialog.js';
import { RenameDialog } from './rename-dialog.js';
import { RunDialog } from './run-dialog.js';
import { RunLimitDialog } from './run-limit-dialog.js';
import type { Saver } from './saver.js';
import { VersionsDialog } from './versions-dialog.js';

const PublishDialog = lazy(() => import('./publish-dialog.js').then((part) => ({ default: part.PublishDialog })));

export type OpenDialog = 'run' | 'versions' | 'publish' | 'rename' | 'limit' | 'duplicate' | 'delete';

interface EditorDialogsProps {
  saver: Saver;
  open: OpenDialog | undefined;
  onClose: () => void;
}

/** One at a time; that somebody else has changed the workflow comes first. */
export function EditorDialogs({ saver, open, onClose }: EditorDialogsProps) {
  const conflict = useSyncExternalStore(saver.subscribe, () => saver.getState().conflict);
  if (conflict !== undefined) return <ConflictDialog saver={saver} theirs={conflict} />;
  const props = { saver, onClose };
  switch (open) {
    case 'run':
      return <RunDialog {...props} />;
    case 'versions':
      return <VersionsDialog {...props} />;
    case 'publish':
      return (
        <ErrorBoundary>
          <Suspense>
            <PublishDialog {...props} />
          </Suspense>
        </ErrorBoundary>
      );
    case 'rename':
      return <RenameDialog {...props} />;
    case 'limit':
      return <RunLimitDialog {...props} />;
    case 'duplicate':
      return <DuplicateDialog {...props} />;
    case 'delete':
      return <DeleteDialog {...props} />;
    case undefined:
    default:
      return null;
  }
}
