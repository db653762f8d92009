import { useState, type SubmitEvent } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { fieldErrors } from '../../../app/explain.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { CheckboxField, TextField } from '../../../ui/fields.js';
import type { Project } from '../use-projects.js';

export function EndpointForm({ project }: { project: Project }) {
  const [url, setUrl] = useState(project.webhook_url);
  const [isEnabled, setIsEnabled] = useState(project.is_webhook_enabled);
  const change = useChange(() => save(project.id, { webhook_url: url.trim(), is_webhook_enabled: isEnabled }), {
    invalidates: ['projects', 'deliveries'],
    said: 'The webhook is saved.',
    onSuccess: (saved) => {
      setUrl(saved.webhook_url);
      setIsEnabled(saved.is_webhook_enabled);
    },
  });
  const errors = fieldErrors(change.error);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!change.isPending) change.mutate();
  };
  return (
    <form className="settings-form" noValidate onSubmit={submit}>
      <Problem error={change.error} fields={['webhook_url', 'is_webhook_enabled']} />
      <div className="settings-row">
        <TextField
          label="Webhook URL"
          hint="It must be reachable from the service, and answer with 2xx within 15 seconds."
          type="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          value={url}
          onChange={setUrl}
          error={errors['webhook_url']}
        />
        <Button variant="primary" type="submit" isBusy={change.isPending}>
          Save
        </Button>
      </div>
      <CheckboxField
        label="Send events"
        hint="Switched off, what was not delivered yet never will be."
        isChecked={isEnabled}
        onChange={setIsEnabled}
        error={errors['is_webhook_enabled']}
      />
    </form>
  );
}

function save(id: number, body: { webhook_url: string; is_webhook_enabled: boolean }): Promise<Project> {
  return unwrap(api.PATCH('/api/v1/projects/{id}/', { params: { path: { id } }, body }));
}
