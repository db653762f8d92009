import { useEffect, type ReactNode } from 'react';
import { ButtonLink } from './button.js';
import './page-header.css';

interface PageHeaderProps {
  /** The page's heading, and the title of the window. */
  title: string;
  /** Content beside the heading: a status, for example. */
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

/** Sets the title of the window while the component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Workflow automation`;
  }, [title]);
}

interface NotFoundProps {
  /** A sentence that says what was looked for, and why it may be missing. */
  children?: ReactNode;
}

/**
 * The page of an address that names nothing, or nothing that the person may see. The service does not tell them apart.
 */
export function NotFound({
  children = 'There is nothing at this address, or it is not shared with you.',
}: NotFoundProps) {
  return (
    <>
      <PageHeader title="Not found" />
      <p>{children}</p>
      <p>
        <ButtonLink to="/workflows">To the workflows</ButtonLink>
      </p>
    </>
  );
}
