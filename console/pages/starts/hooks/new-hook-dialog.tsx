import { useState } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { SelectField, TextField } from '../../../ui/fields.js';
import { SecretField } from './secret-field.js';
import { NEW_HOOK, SIGNATURES, toBody, type HookFields } from './signatures.js';
import { makeHook, type ShownHook } from './use-hooks.js';

interface NewHookDialogProps {
  workflowId: number;
  onClose: () => void;
  onMade: (hook: ShownHook) => void;
}

export function NewHookDialog({ workflowId, onClose, onMade }: NewHookDialogProps) {
  const [fields, setFields] = useState<HookFields>(NEW_HOOK);
  const isLater = fields.signature === 'stripe';
  // A secret that a person has typed is known, and Stripe takes none from anybody.
  const isShown = fields.signature !== 'none' && fields.secret === '' && !isLater;
  const change = useChange(() => makeHook(workflowId, toBody(fields)), {
    invalidates: ['hooks'],
    said: isShown ? 'The hook is made. Copy its secret now: it is shown once.' : 'The hook is made.',
    onSuccess: (hook) => {
      if (isShown) onMade(hook);
      onClose();
    },
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<HookFields>): void => setFields({ ...fields, ...changed });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  const chosen = SIGNATURES.find(({ value }) => value === fields.signature) ?? SIGNATURES[0];
  return (
    <Dialog
      title="New hook"
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          Make hook
        </Button>
      }
    >
      <Problem error={change.error} fields={['header', 'secret']} />
      <SelectField
        label="Signature"
        hint={chosen?.hint}
        value={fields.signature}
        options={SIGNATURES}
        onChange={(value) => set({ signature: SIGNATURES.find((one) => one.value === value)?.value ?? 'none' })}
      />
      {fields.signature === 'hmac-sha256' && (
        <TextField
          label="Header"
          autoComplete="off"
          value={fields.header}
          onChange={(header) => set({ header })}
          error={errors['header']}
          maxLength={100}
          isRequired
        />
      )}
      {fields.signature !== 'none' && (
        <SecretField
          {...(isLater && { ifEmpty: 'give it to the hook with Replace secret as soon as you have it.' })}
          value={fields.secret}
          onChange={(secret) => set({ secret })}
          error={errors['secret']}
          onSubmit={submit}
        />
      )}
    </Dialog>
  );
}
