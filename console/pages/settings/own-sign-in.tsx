import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { useChange, submitHandler } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Table, type Column } from '../../ui/table.js';

type List = paths['/api/v1/auth/sessions/']['get']['responses'][200]['content']['application/json'];
type Session = List['items'][number];

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
    { invalidates: ['sessions'], announcement: 'The session is ended.' },
  );
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        You are signed in at these places. A session that you end is over at once; this one ends with Sign out in the
        account menu.
      </p>
      <Problem error={change.error} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table
          label="Sessions"
          hasCards
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

export type ListedSession =
  paths['/api/v1/users/{id}/sessions/']['get']['responses'][200]['content']['application/json']['items'][number];

const METHODS: Record<ListedSession['method'], string> = {
  password: 'Password',
  link: 'Link',
  oidc: 'Identity provider',
};

export const SESSION_FACTS: Column<ListedSession>[] = [
  {
    heading: 'Browser',
    cell: (row) => <span className="settings-agent">{row.user_agent || 'Unknown'}</span>,
    isName: true,
  },
  { heading: 'Network', cell: ({ network }) => network },
  { heading: 'Signed in by', cell: ({ method }) => METHODS[method] },
  { heading: 'Since', cell: (row) => <Time at={row.created_at} /> },
  { heading: 'Last used', cell: (row) => <Time at={row.last_used_at} /> },
  { heading: 'Ends', cell: (row) => <Time at={row.expires_at} /> },
];

const EMPTY = { current_password: '', new_password: '' };

export function PasswordTab() {
  const [fields, setFields] = useState(EMPTY);
  const change = useChange(() => unwrap(api.POST('/api/v1/auth/password/', { body: fields })), {
    invalidates: ['sessions'],
    announcement: 'The password is changed.',
    onSuccess: () => setFields(EMPTY),
  });
  const errors = fieldErrors(change.error);
  return (
    <form className="settings-tab" noValidate onSubmit={submitHandler(change)}>
      <p className="settings-lead">
        A new password ends your other sessions. If you have none yet, ask an administrator for a password link.
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
