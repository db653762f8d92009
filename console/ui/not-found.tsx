import type { ReactNode } from 'react';
import { ButtonLink } from './button-link.js';
import { PageHeader } from './page-header.js';

interface NotFoundProps {
  /** What was looked for, and why it may be missing. */
  children?: ReactNode;
}

/** The page of an address that names nothing, or nothing that the person may see: the service does not tell them apart. */
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
