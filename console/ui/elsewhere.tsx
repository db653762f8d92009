import type { ReactNode } from 'react';

/**
 * A link that a user or a model has written: it opens in another tab and tells nothing of where it was clicked. What does not
 * lead out of here, a place in the text for example, is text.
 */
export function Elsewhere({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (href === undefined || !/^(?:https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children}
    </a>
  );
}
