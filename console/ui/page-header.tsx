import { useEffect, type ReactNode } from 'react';
import { ButtonLink } from './button.js';
import './page-header.css';

interface PageHeaderProps {
  /** Heading of the page and title of the window. */
  title: string;
  /** Content beside the heading, such as a status. */
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
      {actions !== undefined && (
        <div className="page-header-actions" data-commands>
          {actions}
        </div>
      )}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Workflow automation`;
  }, [title]);
}

interface NotFoundProps {
  /** Sentence about what is missing and why. */
  children?: ReactNode;
}

/**
 * Page for addresses that name nothing that the person may see. The service does not distinguish
 * missing from forbidden.
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
