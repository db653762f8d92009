import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { useTyped } from '../../service/search-state.js';
import { Button } from '../../ui/button.js';
import { NewSecret } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField, SearchField, TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { SESSION_FACTS, type ListedSession } from './own-sign-in.js';

export function UsersTab() {
  const [{ search, page }, setShown] = useState({ search: '', page: 1 });
  const [typed, setTyped] = useTyped(search, (text) => setShown({ search: text, page: 1 }));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const link = useChange((user: Listed) => makePasswordLink(user.id), {
    invalidates: [],
    announcement: 'The password link is made. Copy it now: it is shown once.',
  });
  const activity = useChange((user: Listed) => changeUser(user.id, { is_active: true }), {
    invalidates: ['users'],
    announcement: 'The user is active again.',
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
      <Problem error={activity.error} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <div className="settings-tab" aria-busy={isPlaceholderData}>
          <Table
            label="Users"
            hasCards
            columns={columnsOf({
              open: setOpen,
              makeLink: (user) => link.mutate(user),
              activate: (user) => activity.mutate(user),
              isBusy: link.isPending || activity.isPending,
            })}
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
      {open?.dialog === 'deactivate' && <DeactivateDialog of={open.user} onClose={close} />}
    </div>
  );
}

type Open = { dialog: 'new' } | { dialog: 'edit' | 'sessions' | 'deactivate'; user: Listed };

interface Actions {
  open: (what: Open) => void;
  makeLink: (user: Listed) => void;
  activate: (user: Listed) => void;
  isBusy: boolean;
}

function columnsOf({ open, makeLink, activate, isBusy }: Actions): Column<Listed>[] {
  return [
    { heading: 'Name', cell: ({ name }) => name, isName: true },
    { heading: 'Email', cell: ({ email }) => email ?? '–' },
    { heading: 'API access', cell: ({ api_access: hasAccess }) => (hasAccess ? 'Yes' : 'No') },
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
          {user.is_active ? (
            <Button variant="quiet" onClick={() => open({ dialog: 'deactivate', user })}>
              Deactivate
            </Button>
          ) : (
            <Button variant="quiet" disabled={isBusy} onClick={() => activate(user)}>
              Activate
            </Button>
          )}
        </span>
      ),
    },
  ];
}

function DeactivateDialog({ of, onClose }: { of: Listed; onClose: () => void }) {
  const change = useChange(() => changeUser(of.id, { is_active: false }), {
    invalidates: ['users'],
    announcement: 'The user is deactivated.',
    onSuccess: onClose,
  });
  return (
    <Dialog
      title={`Deactivate ${of.name}`}
      onClose={onClose}
      footer={
        <Button variant="danger" isBusy={change.isPending} onClick={() => change.mutate()}>
          Deactivate
        </Button>
      }
    >
      <Problem error={change.error} />
      <p>Sign-ins and keys are refused from now on, sessions end, schedules are paused, and hooks start nothing.</p>
    </Dialog>
  );
}

const NEW_USER: UserFields = { name: '', email: null, api_access: true, is_admin: false };

/** Creates a user unless `of` is set. */
function UserDialog({ of, onClose }: { of?: Listed; onClose: () => void }) {
  const [fields, setFields] = useState<UserFields>(of ?? NEW_USER);
  const set = (changed: Partial<UserFields>): void => setFields({ ...fields, ...changed });
  const change = useChange(() => save(of, fields), {
    invalidates: ['users'],
    announcement: of === undefined ? 'The user is made.' : 'The user is changed.',
    onSuccess: onClose,
  });
  const errors = fieldErrors(change.error);
  return (
    <Dialog
      title={of === undefined ? 'New user' : 'Edit user'}
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={() => change.mutate()}>
          {of === undefined ? 'Create' : 'Save'}
        </Button>
      }
    >
      <Problem error={change.error} fields={['name', 'email', 'api_access', 'is_admin']} />
      <TextField
        label="Name"
        autoComplete="off"
        maxLength={255}
        value={fields.name}
        onChange={(name) => set({ name })}
        error={errors['name']}
        isRequired
      />
      <TextField
        label="Email"
        hint="A person with an email signs in by the identity provider, or with a password that is set by a password link."
        type="email"
        autoComplete="off"
        maxLength={254}
        value={fields.email ?? ''}
        onChange={(email) => set({ email: email === '' ? null : email })}
        error={errors['email']}
      />
      <CheckboxField
        label="API access"
        hint="Whether the user's keys are admitted."
        isChecked={fields.api_access}
        onChange={(hasAccess) => set({ api_access: hasAccess })}
        error={errors['api_access']}
      />
      <CheckboxField
        label="Administrator"
        hint="Manages users, and of every project the pools and the audit log. It gives no other access to the projects of others."
        isChecked={fields.is_admin}
        onChange={(isAdmin) => set({ is_admin: isAdmin })}
        error={errors['is_admin']}
      />
    </Dialog>
  );
}

/** Sends changed fields only, because somebody else may have changed the others in the meantime. */
function save(of: Listed | undefined, fields: UserFields): Promise<Listed> {
  if (of === undefined) return createUser(fields);
  return changeUser(of.id, {
    ...(fields.name !== of.name && { name: fields.name }),
    ...(fields.email !== of.email && { email: fields.email }),
    ...(fields.api_access !== of.api_access && { api_access: fields.api_access }),
    ...(fields.is_admin !== of.is_admin && { is_admin: fields.is_admin }),
  });
}

function UserSessionsDialog({ of, onClose }: { of: Listed; onClose: () => void }) {
  const { data, error, refetch, isFetching } = useSessionsOf(of.id);
  const change = useChange(() => endSessionsOf(of.id), {
    invalidates: ['user-sessions', 'sessions'],
    announcement: 'The sessions are ended.',
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
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table
          label="Sessions"
          hasCards
          columns={SESSION_FACTS}
          rows={data}
          keyOf={({ id }) => id}
          empty="The user is signed in nowhere."
        />
      )}
    </Dialog>
  );
}

type List = paths['/api/v1/users/']['get']['responses'][200]['content']['application/json'];
type Listed = List['items'][number];

interface UserFields {
  name: string;
  email: string | null;
  api_access: boolean;
  is_admin: boolean;
}

type PasswordLink = paths['/api/v1/users/{id}/password-link/']['post']['responses'][201]['content']['application/json'];

const PAGE_SIZE = 25;

function useUsers(search: string, page: number): UseQueryResult<List> {
  return useQuery({
    queryKey: ['users', search, page],
    queryFn: ({ signal }) => {
      const query = { page, size: PAGE_SIZE, ...(search !== '' && { search }) };
      return unwrap(api.GET('/api/v1/users/', { params: { query }, signal }));
    },
    placeholderData: (before) => before,
  });
}

function createUser(body: UserFields): Promise<Listed> {
  return unwrap(api.POST('/api/v1/users/', { body }));
}

function changeUser(id: number, body: Partial<UserFields & Pick<Listed, 'is_active'>>): Promise<Listed> {
  return unwrap(api.PATCH('/api/v1/users/{id}/', { params: { path: { id } }, body }));
}

function makePasswordLink(id: number): Promise<PasswordLink> {
  return unwrap(api.POST('/api/v1/users/{id}/password-link/', { params: { path: { id } } }));
}

function useSessionsOf(id: number): UseQueryResult<ListedSession[]> {
  return useQuery({
    queryKey: ['user-sessions', id],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(
          api.GET('/api/v1/users/{id}/sessions/', { params: { path: { id }, query: { page, size: 100 } }, signal }),
        ),
      ),
  });
}

function endSessionsOf(id: number): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/users/{id}/sessions/', { params: { path: { id } } }));
}
