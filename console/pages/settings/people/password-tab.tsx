import { useState } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { TextField } from '../../../ui/fields.js';

const EMPTY = { current_password: '', new_password: '' };

/** The person's own password. */
export function PasswordTab() {
  const [fields, setFields] = useState(EMPTY);
  const change = useChange(() => unwrap(api.POST('/api/v1/auth/password/', { body: fields })), {
    invalidates: ['sessions'],
    said: 'The password is changed.',
    onSuccess: () => setFields(EMPTY),
  });
  const errors = fieldErrors(change.error);
  return (
    <form
      className="settings-tab"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!change.isPending) change.mutate();
      }}
    >
      <p className="settings-lead">
        A new password ends your other sessions. Who has none yet asks an administrator for a password link.
      </p>
      <Problem error={change.error} fields={Object.keys(EMPTY)} />
      <div className="settings-row">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={fields.current_password}
          onChange={(text) => setFields({ ...fields, current_password: text })}
          error={errors['current_password']}
          isRequired
        />
        <TextField
          label="New password"
          hint="At least 12 characters."
          type="password"
          autoComplete="new-password"
          value={fields.new_password}
          onChange={(text) => setFields({ ...fields, new_password: text })}
          error={errors['new_password']}
          isRequired
        />
        <Button type="submit" isBusy={change.isPending}>
          Change password
        </Button>
      </div>
      {change.isSuccess && <p role="status">The password is changed.</p>}
    </form>
  );
}
