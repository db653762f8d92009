import { useMembers } from '../members/use-members.js';
import type { Project } from '../use-projects.js';
import { AuditLog } from './audit-log.js';

/** The audit log of a project, for its admins and owners. */
export function AuditTab({ project }: { project: Project }) {
  const { data: members } = useMembers(project.id);
  const people = (members ?? []).map(({ user_id: id, name }) => ({ value: String(id), label: name }));
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Every change of this project, and every attempt that was refused, with its author. Records are kept for 400
        days. Times are yours; the filters take days of UTC.
      </p>
      <AuditLog projectId={project.id} people={people} />
    </div>
  );
}
