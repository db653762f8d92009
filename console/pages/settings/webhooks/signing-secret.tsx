import { useState } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { NewSecret } from '../../../ui/copy-button.js';
import { ConfirmDialog } from '../../../ui/dialog.js';

/** What receivers check signatures with. */
export function SigningSecret({ projectId }: { projectId: number }) {
  const [isAsking, setIsAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const change = useChange(
    () => unwrap(api.POST('/api/v1/projects/{id}/webhook-secret/', { params: { path: { id: projectId } } })),
    {
      invalidates: [],
      said: 'There is a new signing secret. Copy it now: it is shown once.',
      onSuccess: (made) => {
        setSecret(made.webhook_secret);
        setIsAsking(false);
      },
    },
  );
  return (
    <>
      <p>
        <Button onClick={() => setIsAsking(true)}>New signing secret</Button>
      </p>
      {secret !== undefined && (
        <NewSecret
          key={secret}
          title="Your new signing secret"
          text={secret}
          copyLabel="Copy secret"
          onDone={() => setSecret(undefined)}
        />
      )}
      {isAsking && (
        <ConfirmDialog
          title="New signing secret"
          confirmLabel="Make secret"
          isBusy={change.isPending}
          onConfirm={() => change.mutate()}
          onCancel={() => setIsAsking(false)}
        >
          <p>Requests are signed with it at once. The secret before it signs beside it for 24 hours.</p>
          <Problem error={change.error} />
        </ConfirmDialog>
      )}
    </>
  );
}
