import type { ReactNode } from 'react';
import './page-header.css';
import { useTitle } from './use-title.js';

interface PageHeaderProps {
  /** The page's heading, and the title of the window. */
  title: string;
  /** Beside the heading: a status, for example. */
  beside?: ReactNode;
  /** Buttons of the page, the main one last. */
  actions?: ReactNode;
}

export function PageHeader({ title, beside, actions }: PageHeaderProps) {
  useTitle(title);
  return (
    <header className="page-header">
      <div className="page-header-title">
        <h1>{title}</h1>
        {beside}
      </div>
      {actions !== undefined && <div className="page-header-actions">{actions}</div>}
    </header>
  );
}
