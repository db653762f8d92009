import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { useUser } from '../../../app/session.js';
import { Button } from '../../../ui/button.js';
import { Loading, Note } from '../../../ui/notices.js';
import { Table } from '../../../ui/table.js';
import { mayAct, type Project, type Role } from '../use-projects.js';
import { AddMember } from './add-member.js';
import { LeaveProject } from './leave-project.js';
import { columnsOf } from './member-columns.js';
import { addMember, changeRole, removeMember, useMembers, type Member } from './use-members.js';

export function MembersTab({ project }: { project: Project }) {
  const user = useUser();
  const { data, error, refetch, isFetching } = useMembers(project.id);
  const [removed, setRemoved] = useState<Member>();
  const [isLeaving, setIsLeaving] = useState(false);
  const change = useChange(
    ({ member, role }: { member: Member; role: Role }) => changeRole(project.id, member.user_id, role),
    { invalidates: ['members', 'projects'], said: 'The role is changed.' },
  );
  const removal = useChange((member: Member) => removeMember(project.id, member.user_id), {
    invalidates: ['members'],
    said: 'The member is removed.',
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
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Table label="Members" columns={columns} rows={data} keyOf={({ user_id }) => user_id} />}
      {isLeaving && user !== undefined && (
        <LeaveProject project={project} userId={user.id} onClose={() => setIsLeaving(false)} />
      )}
    </div>
  );
}

const SENTENCES = { 403: 'Only owners make, change and remove owners.' };

/** A removal is taken back as easily as it is made. */
function Removed({ project, member, onDone }: { project: Project; member: Member; onDone: () => void }) {
  const undo = useChange(() => addMember(project.id, { user_id: member.user_id }, member.role), {
    invalidates: ['members'],
    said: 'The member is back.',
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
