import { useState, type SubmitEvent } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { SelectField, TextField } from '../../../ui/fields.js';
import type { Project, Role } from '../use-projects.js';
import { ROLES_EXPLAINED, rolesFor } from './roles.js';
import { addMember } from './use-members.js';

export function AddMember({ project }: { project: Project }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const change = useChange(() => addMember(project.id, { email: email.trim() }, role), {
    invalidates: ['members'],
    said: 'The member is added.',
    onSuccess: () => setEmail(''),
  });
  const errors = fieldErrors(change.error);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!change.isPending) change.mutate();
  };
  return (
    <form className="settings-form" noValidate onSubmit={submit}>
      <Problem error={change.error} fields={['email', 'role']} />
      <div className="settings-row">
        <TextField
          label="Email"
          type="email"
          autoComplete="off"
          value={email}
          onChange={setEmail}
          error={errors['email']}
          isRequired
        />
        <SelectField
          label="Role"
          value={role}
          onChange={(value) => setRole(value as Role)}
          options={rolesFor(project.role)}
          error={errors['role']}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Add member
        </Button>
      </div>
      <p className="settings-lead">{ROLES_EXPLAINED}</p>
    </form>
  );
}
