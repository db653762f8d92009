import type { Project } from '../use-projects.js';
import { AuditLog } from './audit-log.js';
import { useUserChoices } from './use-audit.js';

/** For administrators: all projects, and what belongs to none. `projects`: those of the administrator, by name. */
export function ServiceAuditTab({ projects }: { projects: readonly Project[] }) {
  const { data: users } = useUserChoices();
  const people = (users ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Every change of the service, its users and all projects, and every attempt that was refused. Records are kept
        for 400 days. Times are yours; the filters take days of UTC.
      </p>
      <AuditLog people={people} projectName={(id) => names.get(id) ?? `Project ${id}`} />
    </div>
  );
}
