import { Button } from '../../../ui/button.js';
import type { Column } from '../../../ui/table.js';
import { mayAct, type Project, type Role } from '../use-projects.js';
import { rolesFor } from './roles.js';
import type { Member } from './use-members.js';

interface Given {
  project: Project;
  /** Of the person at the page. */
  userId: number | undefined;
  isBusy: boolean;
  onRole: (member: Member, role: Role) => void;
  onRemove: (member: Member) => void;
}

/** What the person may not change is text. */
export function columnsOf({ project, userId, isBusy, onRole, onRemove }: Given): Column<Member>[] {
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
