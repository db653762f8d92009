import { useId, useState } from 'react';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Alert } from '../../ui/notices.js';
import { mayAct, useProjects, type Project } from '../settings/use-projects.js';
import { LimitDialog } from './limit-dialog.js';
import { LimitItem } from './limit-item.js';

/** The limits of what projects may spend: of all that have one, or of the chosen project. */
export function LimitsSection({ chosen }: { chosen: number | undefined }) {
  const { data, error, isFetching, refetch } = useProjects();
  const [changed, setChanged] = useState<Project | 'new'>();
  const id = useId();
  const projects = (data ?? []).filter(({ id: of }) => chosen === undefined || of === chosen);
  const limited = projects.filter((project) => project.spending_limit !== null || chosen !== undefined);
  const limitable = projects.filter(({ role, spending_limit: limit }) => limit === null && mayAct(role, 'admin'));
  return (
    <section className="costs-section" aria-labelledby={id}>
      <h2 id={id}>Limits</h2>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data !== undefined && limited.length === 0 && <p>No project has a limit of what it may spend.</p>}
      {limited.length > 0 && (
        <ul className="costs-limits">
          {limited.map((project) => (
            <LimitItem key={project.id} project={project} onChange={() => setChanged(project)} />
          ))}
        </ul>
      )}
      {limitable.length > 0 && (
        <p>
          <Button onClick={() => setChanged('new')}>Set a limit</Button>
        </p>
      )}
      {changed !== undefined && (
        <LimitDialog projects={changed === 'new' ? limitable : [changed]} onClose={() => setChanged(undefined)} />
      )}
    </section>
  );
}
