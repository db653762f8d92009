import { useState } from 'react';
import { fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import {
  makeHook,
  NEW_HOOK,
  replaceSecret,
  SIGNATURES,
  toBody,
  type HookFields,
  type ListedHook,
  type ShownHook,
} from './hook-data.js';

interface NewHookDialogProps {
  workflowId: number;
  onClose: () => void;
  onMade: (hook: ShownHook) => void;
}

export function NewHookDialog({ workflowId, onClose, onMade }: NewHookDialogProps) {
  const [fields, setFields] = useState<HookFields>(NEW_HOOK);
  const isLater = fields.signature === 'stripe';
  // The person knows a secret that they typed, and Stripe generates its own secrets.
  const isShown = fields.signature !== 'none' && fields.secret === '' && !isLater;
  const change = useChange(() => makeHook(workflowId, toBody(fields)), {
    invalidates: ['hooks'],
    announcement: isShown ? 'The hook is made. Copy its secret now: it is shown once.' : 'The hook is made.',
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

interface ReplaceSecretDialogProps {
  of: ListedHook;
  onClose: () => void;
  onReplaced: (hook: ShownHook) => void;
}

export function ReplaceSecretDialog({ of, onClose, onReplaced }: ReplaceSecretDialogProps) {
  const [secret, setSecret] = useState('');
  const change = useChange(() => replaceSecret(of.workflow.id, of.id, secret === '' ? null : secret), {
    invalidates: ['hooks'],
    announcement: 'The secret is replaced.',
    onSuccess: (hook) => {
      // The person knows a secret that they typed.
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
      <p>Requests signed with the current secret are refused from then on. The URL stays the same.</p>
      <Problem error={change.error} fields={['secret']} />
      <SecretField value={secret} onChange={setSecret} error={fieldErrors(change.error)['secret']} onSubmit={submit} />
    </Dialog>
  );
}

interface SecretFieldProps {
  /** End of the hint: what happens if the field is empty. */
  ifEmpty?: string;
  value: string;
  onChange: (secret: string) => void;
  error: string | undefined;
  onSubmit: () => void;
}

const MADE = 'a new one is made, and shown once.';

function SecretField({ ifEmpty = MADE, value, onChange, error, onSubmit }: SecretFieldProps) {
  return (
    <TextField
      label="Secret"
      hint={`One that the sender has already. Empty: ${ifEmpty}`}
      type="password"
      autoComplete="new-password"
      value={value}
      onChange={onChange}
      error={error}
      maxLength={500}
      onKeyDown={({ key }) => key === 'Enter' && onSubmit()}
    />
  );
}
