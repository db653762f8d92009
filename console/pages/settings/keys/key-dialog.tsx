import { useState } from 'react';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { useUser } from '../../../app/session.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { SelectField, TextField } from '../../../ui/fields.js';
import type { Project } from '../use-projects.js';
import { NEW_KEY, SCOPES, toBody, toFields, type KeyFields, type KeyScope } from './key-fields.js';
import { changeKey, createKey, type Key, type NewKey } from './use-keys.js';

interface KeyDialogProps {
  /** The key to be changed; without it a new one is made. */
  of?: Key;
  projects: readonly Project[];
  onClose: () => void;
  onCreated?: (key: NewKey) => void;
}

export function KeyDialog({ of, projects, onClose, onCreated }: KeyDialogProps) {
  const [before] = useState(() => (of === undefined ? NEW_KEY : toFields(of)));
  const [fields, setFields] = useState<KeyFields>(before);
  const isAdmin = useUser()?.is_admin === true;
  const change = useChange(() => save(of, before, fields), {
    invalidates: ['api-keys'],
    said: of === undefined ? 'The key is made. Copy it now: it is shown once.' : 'The key is changed.',
    onSuccess: (key) => {
      if ('api_key' in key) onCreated?.(key);
      onClose();
    },
  });
  const errors = fieldErrors(change.error);
  const set = (changed: Partial<KeyFields>): void => setFields({ ...fields, ...changed });
  const submit = (): void => {
    if (!change.isPending) change.mutate();
  };
  return (
    <Dialog
      title={of === undefined ? 'Create key' : 'Edit key'}
      onClose={onClose}
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          {of === undefined ? 'Create key' : 'Save'}
        </Button>
      }
    >
      <Problem error={change.error} fields={['label', 'expires_at', 'project', 'scope', 'rate_limit']} />
      <TextField
        label="Label"
        hint="What it is for, so that you know it again."
        value={fields.label}
        onChange={(label) => set({ label })}
        maxLength={100}
        error={errors['label']}
        onKeyDown={({ key }) => key === 'Enter' && submit()}
      />
      <TextField
        label="Expires"
        hint="Empty: never. From then on the key is refused."
        type="datetime-local"
        value={fields.expires}
        onChange={(expires) => set({ expires })}
        error={errors['expires_at']}
      />
      <SelectField
        label="Restricted to"
        hint="A key that leaves your hands should reach one project only."
        value={fields.project}
        onChange={(project) => set({ project })}
        error={errors['project']}
        options={choicesOf(projects, before.project)}
      />
      <SelectField
        label="May"
        hint="A key that only starts runs should be able to do no more."
        value={fields.scope}
        onChange={(scope) => set({ scope: scope as KeyScope })}
        error={errors['scope']}
        options={Object.entries(SCOPES).map(([value, label]) => ({ value, label }))}
      />
      {isAdmin && (
        <TextField
          label="Requests a minute"
          hint="Empty: the default."
          inputMode="numeric"
          value={fields.rateLimit}
          onChange={(rateLimit) => set({ rateLimit })}
          error={errors['rate_limit']}
        />
      )}
    </Dialog>
  );
}

function save(of: Key | undefined, before: KeyFields, fields: KeyFields): Promise<Key | NewKey> {
  const body = toBody(before, fields);
  return of === undefined ? createKey(body) : changeKey(of.id, body);
}

/** The project of an older key may be gone, or not be the person's any more. */
function choicesOf(projects: readonly Project[], chosen: string) {
  const known = projects.map(({ id, name }) => ({ value: String(id), label: name }));
  const isLost = chosen !== '' && !known.some(({ value }) => value === chosen);
  return [
    { value: '', label: 'All my projects' },
    ...known,
    ...(isLost ? [{ value: chosen, label: `Project ${chosen}, which is not yours any more` }] : []),
  ];
}
