import { useState } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { SecretField } from './secret-field.js';
import { replaceSecret, type Hook, type ShownHook } from './use-hooks.js';

interface ReplaceSecretDialogProps {
  workflowId: number;
  of: Hook;
  onClose: () => void;
  onReplaced: (hook: ShownHook) => void;
}

export function ReplaceSecretDialog({ workflowId, of, onClose, onReplaced }: ReplaceSecretDialogProps) {
  const [secret, setSecret] = useState('');
  const change = useChange(() => replaceSecret(workflowId, of.id, secret === '' ? null : secret), {
    invalidates: ['hooks'],
    said: 'The secret is replaced.',
    onSuccess: (hook) => {
      // Who has typed it knows it.
      if (secret === '') onReplaced(hook);
      onClose();
    },
  });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  return (
    <Dialog
      title="Replace secret"
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          Replace secret
        </Button>
      }
    >
      <p>What is signed with the secret of now is refused from then on. The URL stays the same.</p>
      <Problem error={change.error} fields={['secret']} />
      <SecretField value={secret} onChange={setSecret} error={fieldErrors(change.error)['secret']} onSubmit={submit} />
    </Dialog>
  );
}
