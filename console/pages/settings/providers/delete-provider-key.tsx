import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { deleteProviderKey, type ProviderKey } from './use-provider-keys.js';

interface DeleteProviderKeyProps {
  projectId: number;
  of: ProviderKey;
  onClose: () => void;
}

export function DeleteProviderKey({ projectId, of, onClose }: DeleteProviderKeyProps) {
  const change = useChange(() => deleteProviderKey(projectId, of.id), {
    invalidates: ['provider-keys', 'projects'],
    said: 'The provider key is deleted.',
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      title="Delete provider key"
      confirmLabel="Delete"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>
        Later calls of <strong>{of.provider}</strong> use an older key of the project, or that of the platform.
      </p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
