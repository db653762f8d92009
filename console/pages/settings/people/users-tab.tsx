import { useState } from 'react';
import { useTyped } from '../../../app/use-typed.js';
import { Button } from '../../../ui/button.js';
import { Loading } from '../../../ui/loading.js';
import { Pager } from '../../../ui/pager.js';
import { SearchField } from '../../../ui/search-field.js';
import { Table, type Column } from '../../../ui/table.js';
import { Time } from '../../../ui/time.js';
import { Problem } from '../../../app/problem.js';
import { UserDialog } from './user-dialog.js';
import { useUsers, type Listed } from './use-users.js';

/** For administrators. */
export function UsersTab() {
  const [{ search, page }, setShown] = useState({ search: '', page: 1 });
  const [typed, setTyped] = useTyped(search, (text) => setShown({ search: text, page: 1 }));
  const [open, setOpen] = useState<'new' | Listed>();
  const { data, error, refetch, isFetching, isPlaceholderData } = useUsers(search, page);
  return (
    <div className="settings-tab">
      <div className="settings-row">
        <SearchField label="Search users" value={typed} onChange={setTyped} />
        <Button onClick={() => setOpen('new')}>New user</Button>
      </div>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <div className="settings-tab" aria-busy={isPlaceholderData}>
          <Table
            label="Users"
            columns={columnsOf(setOpen)}
            rows={data.items}
            keyOf={({ id }) => id}
            empty="No user has this in the name or e-mail address."
          />
          <Pager page={page} size={data.size} total={data.total} onPage={(next) => setShown({ search, page: next })} />
        </div>
      )}
      {open === 'new' && <UserDialog onClose={() => setOpen(undefined)} />}
      {open !== undefined && open !== 'new' && <UserDialog of={open} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function columnsOf(onEdit: (user: Listed) => void): Column<Listed>[] {
  return [
    { heading: 'Name', cell: ({ name }) => name, isName: true },
    { heading: 'Email', cell: ({ email }) => email ?? '–' },
    { heading: 'API access', cell: ({ api_access: isGiven }) => (isGiven ? 'Yes' : 'No') },
    { heading: 'Administrator', cell: ({ is_admin: isAdmin }) => (isAdmin ? 'Yes' : 'No') },
    { heading: 'Created', cell: (user) => <Time at={user.created_at} /> },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (user) => (
        <Button variant="quiet" onClick={() => onEdit(user)}>
          Edit
        </Button>
      ),
    },
  ];
}
