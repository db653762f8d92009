import { useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { useMembers, type Member } from '../../service/members.js';
import { ConfirmChange } from '../../service/confirm-change.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { mayAct, type Project, type Role } from '../../service/projects.js';
import { useChange, submitHandler } from '../../service/queries.js';
import { useUser } from '../../service/session.js';
import { Button } from '../../ui/button.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import { Table, type Column } from '../../ui/table.js';

export function MembersTab({ project }: { project: Project }) {
  const user = useUser();
  const { data, error, refetch, isFetching } = useMembers(project.id);
  const [removed, setRemoved] = useState<Member>();
  const [isLeaving, setIsLeaving] = useState(false);
  const change = useChange(
    ({ member, role }: { member: Member; role: Role }) => changeRole(project.id, member.user_id, role),
    { invalidates: ['members', 'projects'], announcement: 'The role is changed.' },
  );
  const removal = useChange((member: Member) => removeMember(project.id, member.user_id), {
    invalidates: ['members'],
    announcement: 'The member is removed.',
    onSuccess: (_, member) => setRemoved(member),
  });
  const columns = columnsOf({
    project,
    userId: user?.id,
    isBusy: change.isPending || removal.isPending,
    onRole: (member, role) => {
      removal.reset();
      change.mutate({ member, role });
    },
    onRemove: (member) => {
      change.reset();
      if (member.user_id === user?.id) setIsLeaving(true);
      else removal.mutate(member);
    },
  });
  return (
    <div className="settings-tab">
      {mayAct(project.role, 'admin') ? (
        <AddMember project={project} />
      ) : (
        <Note>Your role in this project is {project.role}. Its admins and owners add and change members.</Note>
      )}
      <Problem error={change.error ?? removal.error} sentences={SENTENCES} />
      {removed !== undefined && (
        <Removed project={project} member={removed} onDone={() => setRemoved(undefined)} key={removed.user_id} />
      )}
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table label="Members" hasCards columns={columns} rows={data} keyOf={({ user_id }) => user_id} />
      )}
      {isLeaving && user !== undefined && (
        <LeaveProject project={project} userId={user.id} onClose={() => setIsLeaving(false)} />
      )}
    </div>
  );
}

const SENTENCES = { 403: 'Only owners make, change and remove owners.' };

/** Offers to undo a removal, because it happens without confirmation. */
function Removed({ project, member, onDone }: { project: Project; member: Member; onDone: () => void }) {
  const undo = useChange(() => addMember(project.id, { user_id: member.user_id }, member.role), {
    invalidates: ['members'],
    announcement: 'The member is back.',
    onSuccess: onDone,
  });
  return (
    <Note>
      <p className="settings-buttons">
        <span>{member.name} is no longer a member.</span>
        <Button isBusy={undo.isPending} onClick={() => undo.mutate()}>
          Undo
        </Button>
      </p>
      <Problem error={undo.error} />
    </Note>
  );
}

interface ColumnOptions {
  project: Project;
  /** User id of the person at the page. */
  userId: number | undefined;
  isBusy: boolean;
  onRole: (member: Member, role: Role) => void;
  onRemove: (member: Member) => void;
}

/** A role that the person may not change is shown as text. */
function columnsOf({ project, userId, isBusy, onRole, onRemove }: ColumnOptions): Column<Member>[] {
  const mayChange = ({ role }: Member): boolean =>
    project.role === 'owner' || (mayAct(project.role, 'admin') && role !== 'owner');
  return [
    { heading: 'Name', cell: ({ name, user_id }) => (user_id === userId ? `${name} (you)` : name), isName: true },
    { heading: 'Email', cell: ({ email }) => email ?? '–' },
    {
      heading: 'Role',
      cell: (member) =>
        mayChange(member) ? (
          <select
            className="control settings-role"
            aria-label={`What ${member.name} may do`}
            value={member.role}
            disabled={isBusy}
            onChange={({ target }) => onRole(member, target.value as Role)}
          >
            {rolesFor(project.role).map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          member.role
        ),
    },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (member) =>
        mayChange(member) || member.user_id === userId ? (
          <Button variant="quiet" disabled={isBusy} onClick={() => onRemove(member)}>
            {member.user_id === userId ? 'Leave' : 'Remove'}
          </Button>
        ) : null,
    },
  ];
}

function AddMember({ project }: { project: Project }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const change = useChange(() => addMember(project.id, { email: email.trim() }, role), {
    invalidates: ['members'],
    announcement: 'The member is added.',
    onSuccess: () => setEmail(''),
  });
  const errors = fieldErrors(change.error);
  return (
    <form className="settings-form" noValidate onSubmit={submitHandler(change)}>
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

interface LeaveProjectProps {
  project: Project;
  userId: number;
  onClose: () => void;
}

function LeaveProject({ project, userId, onClose }: LeaveProjectProps) {
  const change = useChange(() => removeMember(project.id, userId), {
    invalidates: ['projects', 'workflows', 'runs', 'approvals'],
    announcement: 'You have left the project.',
    onSuccess: onClose,
  });
  return (
    <ConfirmChange title="Leave project" confirmLabel="Leave" isDangerous change={change} onClose={onClose}>
      <p>
        You no longer see <strong>{project.name}</strong> and its workflows. Only its admins and owners can add you
        again.
      </p>
    </ConfirmChange>
  );
}

const ROLES: readonly { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer' },
  { value: 'editor', label: 'editor' },
  { value: 'admin', label: 'admin' },
  { value: 'owner', label: 'owner' },
];

/** Only owners can make owners. */
function rolesFor(own: Role): readonly { value: Role; label: string }[] {
  return own === 'owner' ? ROLES : ROLES.filter(({ value }) => value !== 'owner');
}

const ROLES_EXPLAINED =
  'Viewers read. Editors also draw, run and decide requests. Admins also manage members, keys and webhooks. Owners also delete the project.';

type Who = { email: string } | { user_id: number };

const MEMBERS = '/api/v1/projects/{id}/members/';
const MEMBER = '/api/v1/projects/{id}/members/{user_id}/';

function addMember(projectId: number, who: Who, role: Role): Promise<Member> {
  return unwrap(api.POST(MEMBERS, { params: { path: { id: projectId } }, body: { ...who, role } }));
}

function changeRole(projectId: number, userId: number, role: Role): Promise<Member> {
  return unwrap(api.PATCH(MEMBER, { params: { path: { id: projectId, user_id: userId } }, body: { role } }));
}

function removeMember(projectId: number, userId: number): Promise<unknown> {
  return unwrap(api.DELETE(MEMBER, { params: { path: { id: projectId, user_id: userId } } }));
}
