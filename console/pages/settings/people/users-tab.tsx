import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { useTyped } from '../../../app/search-state.js';
import { Button } from '../../../ui/button.js';
import { NewSecret } from '../../../ui/copy-button.js';
import { SearchField } from '../../../ui/fields.js';
import { Time } from '../../../ui/figures.js';
import { Loading } from '../../../ui/notices.js';
import { Pager, Table, type Column } from '../../../ui/table.js';
import { makePasswordLink, useUsers, type Listed } from './use-users.js';
import { UserDialog } from './user-dialog.js';
import { UserSessionsDialog } from './user-sessions-dialog.js';

/** For administrators. */
export function UsersTab() {
  const [{ search, page }, setShown] = useState({ search: '', page: 1 });
  const [typed, setTyped] = useTyped(search, (text) => setShown({ search: text, page: 1 }));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const link = useChange((user: Listed) => makePasswordLink(user.id), {
    invalidates: [],
    said: 'The password link is made. Copy it now: it is shown once.',
  });
  const { data, error, refetch, isFetching, isPlaceholderData } = useUsers(search, page);
  return (
    <div className="settings-tab">
      <div className="settings-row">
        <SearchField label="Search users" value={typed} onChange={setTyped} />
        <Button onClick={() => setOpen({ dialog: 'new' })}>New user</Button>
      </div>
      {link.data !== undefined && (
        <NewSecret
          title={`Password link of ${link.variables.name}, good once and for 24 hours`}
          text={link.data.url}
          copyLabel="Copy link"
          onDone={() => link.reset()}
          key={link.data.url}
        />
      )}
      <Problem error={link.error} />
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <div className="settings-tab" aria-busy={isPlaceholderData}>
          <Table
            label="Users"
            columns={columnsOf({ open: setOpen, makeLink: (user) => link.mutate(user), isBusy: link.isPending })}
            rows={data.items}
            keyOf={({ id }) => id}
            empty="No user has this in the name or e-mail address."
          />
          <Pager page={page} size={data.size} total={data.total} onPage={(next) => setShown({ search, page: next })} />
        </div>
      )}
      {open?.dialog === 'new' && <UserDialog onClose={close} />}
      {open?.dialog === 'edit' && <UserDialog of={open.user} onClose={close} />}
      {open?.dialog === 'sessions' && <UserSessionsDialog of={open.user} onClose={close} />}
    </div>
  );
}

type Open = { dialog: 'new' } | { dialog: 'edit' | 'sessions'; user: Listed };

interface Actions {
  open: (what: Open) => void;
  makeLink: (user: Listed) => void;
  isBusy: boolean;
}

function columnsOf({ open, makeLink, isBusy }: Actions): Column<Listed>[] {
  return [
    { heading: 'Name', cell: ({ name }) => name, isName: true },
    { heading: 'Email', cell: ({ email }) => email ?? '–' },
    { heading: 'API access', cell: ({ api_access: isGiven }) => (isGiven ? 'Yes' : 'No') },
    { heading: 'Administrator', cell: ({ is_admin: isAdmin }) => (isAdmin ? 'Yes' : 'No') },
    { heading: 'Active', cell: ({ is_active: isActive }) => (isActive ? 'Yes' : 'No') },
    { heading: 'Created', cell: (user) => <Time at={user.created_at} /> },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (user) => (
        <span className="settings-buttons">
          <Button variant="quiet" onClick={() => open({ dialog: 'edit', user })}>
            Edit
          </Button>
          <Button variant="quiet" onClick={() => open({ dialog: 'sessions', user })}>
            Sessions
          </Button>
          {user.is_active && user.email !== null && (
            <Button variant="quiet" disabled={isBusy} onClick={() => makeLink(user)}>
              Password link
            </Button>
          )}
        </span>
      ),
    },
  ];
}
