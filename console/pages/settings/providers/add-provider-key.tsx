import { useState, type SubmitEvent } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { TextField } from '../../../ui/fields.js';
import { addProviderKey } from './use-provider-keys.js';

const NOTHING = { provider: '', key: '', name: '' };

export function AddProviderKey({ projectId }: { projectId: number }) {
  const [fields, setFields] = useState(NOTHING);
  const change = useChange(() => addProviderKey(projectId, fields), {
    invalidates: ['provider-keys', 'projects'],
    said: 'The provider key is added.',
    onSuccess: () => setFields(NOTHING),
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<typeof NOTHING>): void => setFields({ ...fields, ...changed });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!change.isPending) change.mutate();
  };
  return (
    <form className="settings-form" noValidate onSubmit={submit}>
      <Problem error={change.error} fields={['provider', 'key', 'name']} />
      <div className="settings-row">
        <TextField
          label="Provider"
          hint="As the operator has named it."
          autoComplete="off"
          value={fields.provider}
          onChange={(provider) => set({ provider })}
          error={errors['provider']}
          maxLength={100}
          isRequired
        />
        <TextField
          label="Key"
          hint="Never shown again."
          type="password"
          autoComplete="new-password"
          value={fields.key}
          onChange={(key) => set({ key })}
          error={errors['key']}
          isRequired
        />
        <TextField
          label="Name"
          hint="For people; may be empty."
          autoComplete="off"
          value={fields.name}
          onChange={(name) => set({ name })}
          error={errors['name']}
          maxLength={100}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Add provider key
        </Button>
      </div>
    </form>
  );
}
