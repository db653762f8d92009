import { useQuery } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { Problem } from '../../../app/problem.js';
import { readAllPages } from '../../../app/calls.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Loading } from '../../../ui/notices.js';
import { Table, type Column } from '../../../ui/table.js';
import { SESSION_FACTS } from './session-facts.js';

type List = paths['/api/v1/auth/sessions/']['get']['responses'][200]['content']['application/json'];
type Session = List['items'][number];

/** Where the person is signed in. */
export function SessionsTab() {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET('/api/v1/auth/sessions/', { params: { query: { page, size: 100 } }, signal })),
      ),
  });
  const change = useChange(
    (id: string) => unwrap(api.DELETE('/api/v1/auth/sessions/{session_id}/', { params: { path: { session_id: id } } })),
    { invalidates: ['sessions'], said: 'The session is ended.' },
  );
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        You are signed in at these places. A session that you end is over at once; this one ends with Sign out in the
        account menu.
      </p>
      <Problem error={change.error} />
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Table
          label="Sessions"
          columns={columnsOf((id) => change.mutate(id), change.isPending)}
          rows={data}
          keyOf={({ id }) => id}
          empty="Your session comes from another service, which lists and ends it."
        />
      )}
    </div>
  );
}

function columnsOf(onEnd: (id: string) => void, isBusy: boolean): Column<Session>[] {
  return [
    ...SESSION_FACTS,
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: ({ id, is_current: isThis }) =>
        isThis ? (
          <span className="figure">This session</span>
        ) : (
          <Button variant="quiet" disabled={isBusy} onClick={() => onEnd(id)}>
            End
          </Button>
        ),
    },
  ];
}
