import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { Loading } from '../../../ui/notices.js';
import { Table } from '../../../ui/table.js';
import { SESSION_FACTS } from './session-facts.js';
import { endSessionsOf, useSessionsOf, type Listed } from './use-users.js';

/** The sessions of a user, for administrators. */
export function UserSessionsDialog({ of, onClose }: { of: Listed; onClose: () => void }) {
  const { data, error, refetch, isFetching } = useSessionsOf(of.id);
  const change = useChange(() => endSessionsOf(of.id), {
    invalidates: ['user-sessions', 'sessions'],
    said: 'The sessions are ended.',
  });
  return (
    <Dialog
      title={`Sessions of ${of.name}`}
      onClose={onClose}
      isWide
      footer={
        data !== undefined &&
        data.length > 0 && (
          <Button variant="danger" isBusy={change.isPending} onClick={() => change.mutate()}>
            End all sessions
          </Button>
        )
      }
    >
      <Problem error={change.error} />
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Table
          label="Sessions"
          columns={SESSION_FACTS}
          rows={data}
          keyOf={({ id }) => id}
          empty="The user is signed in nowhere."
        />
      )}
    </Dialog>
  );
}
