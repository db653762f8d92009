import { useId, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../ui/button.js';
import './starts.css';

const KINDS = {
  schedules: {
    heading: 'Schedules',
    lead: 'A schedule starts runs by the clock, each with the same input.',
    newLabel: 'New schedule',
  },
  hooks: {
    heading: 'Hooks',
    lead: 'A hook is a URL to which another service posts its events. Each event starts a run, whose input is the body.',
    newLabel: 'New hook',
  },
};

interface StartsListProps {
  kind: keyof typeof KINDS;
  /** Undefined if the person may not create any. */
  onNew: (() => void) | undefined;
  children: ReactNode;
}

/** A section of schedules or hooks, with a button to create one. */
export function StartsList({ kind, onNew, children }: StartsListProps) {
  const { heading, lead, newLabel } = KINDS[kind];
  const id = useId();
  return (
    <section className="starts-section" aria-labelledby={id}>
      <div className="starts-head">
        <h2 id={id}>{heading}</h2>
        {onNew !== undefined && <Button onClick={onNew}>{newLabel}</Button>}
      </div>
      <p className="starts-lead">{lead}</p>
      {children}
    </section>
  );
}

interface WorkflowOfStartProps {
  /** The title is undefined on the workflow's own page. */
  workflow: { id: number; title?: string };
}

/** Link to the starts of the workflow of a schedule or hook, for lists of a project. */
export function WorkflowOfStart({ workflow: { id, title } }: WorkflowOfStartProps) {
  if (title === undefined) return null;
  return (
    <Link href={`/workflows/${id}/starts`} className="start-workflow">
      {title}
    </Link>
  );
}
