import type { ReactNode } from 'react';
import { Note } from '../../../ui/notices.js';
import type { Project } from '../use-projects.js';

interface OfProjectProps {
  project: Project | undefined;
  children: (project: Project) => ReactNode;
}

/** What belongs to a project, or the way to one. */
export function OfProject({ project, children }: OfProjectProps) {
  if (project !== undefined) return children(project);
  return <Note>You have no project yet. Make one with the button New project, or ask its owner to add you.</Note>;
}
