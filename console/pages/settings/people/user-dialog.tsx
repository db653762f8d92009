import { useState } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { CheckboxField, TextField } from '../../../ui/fields.js';
import { changeUser, createUser, type Listed, type UserFields } from './use-users.js';

type Fields = UserFields & Pick<Listed, 'is_active'>;

const NEW_USER: Fields = { name: '', email: null, api_access: true, is_admin: false, is_active: true };

/** Without `of` a new one is made. */
export function UserDialog({ of, onClose }: { of?: Listed; onClose: () => void }) {
  const [fields, setFields] = useState<Fields>(of ?? NEW_USER);
  const set = (changed: Partial<Fields>): void => setFields({ ...fields, ...changed });
  const change = useChange(() => save(of, fields), {
    invalidates: ['users'],
    said: of === undefined ? 'The user is made.' : 'The user is changed.',
    onSuccess: onClose,
  });
  const errors = fieldErrors(change.error);
  return (
    <Dialog
      title={of === undefined ? 'New user' : 'Edit user'}
      onClose={onClose}
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={() => change.mutate()}>
          {of === undefined ? 'Create' : 'Save'}
        </Button>
      }
    >
      <Problem error={change.error} fields={['name', 'email', 'api_access', 'is_admin', 'is_active']} />
      <TextField
        label="Name"
        autoComplete="off"
        maxLength={255}
        value={fields.name}
        onChange={(name) => set({ name })}
        error={errors['name']}
        isRequired
      />
      <TextField
        label="Email"
        hint="Who has one signs in by the identity provider, or with a password that a password link sets."
        type="email"
        autoComplete="off"
        maxLength={254}
        value={fields.email ?? ''}
        onChange={(email) => set({ email: email === '' ? null : email })}
        error={errors['email']}
      />
      <CheckboxField
        label="API access"
        hint="Whether the user's keys are admitted."
        isChecked={fields.api_access}
        onChange={(isGiven) => set({ api_access: isGiven })}
        error={errors['api_access']}
      />
      <CheckboxField
        label="Administrator"
        hint="Manages users. It gives no access to projects."
        isChecked={fields.is_admin}
        onChange={(isGiven) => set({ is_admin: isGiven })}
        error={errors['is_admin']}
      />
      {of !== undefined && (
        <CheckboxField
          label="Active"
          hint="Otherwise sign-ins and keys are refused, sessions end, schedules are paused, and hooks start nothing."
          isChecked={fields.is_active}
          onChange={(isActive) => set({ is_active: isActive })}
          error={errors['is_active']}
        />
      )}
    </Dialog>
  );
}

/** Only what differs is sent: somebody else may have changed the rest meanwhile. */
function save(of: Listed | undefined, { is_active: isActive, ...fields }: Fields): Promise<Listed> {
  if (of === undefined) return createUser(fields);
  return changeUser(of.id, {
    ...(fields.name !== of.name && { name: fields.name }),
    ...(fields.email !== of.email && { email: fields.email }),
    ...(fields.api_access !== of.api_access && { api_access: fields.api_access }),
    ...(fields.is_admin !== of.is_admin && { is_admin: fields.is_admin }),
    ...(isActive !== of.is_active && { is_active: isActive }),
  });
}
