// Renders Markdown from users or models. HTML in it is shown as text. Links open in a new tab without a referrer.
// Pictures become links, because loading them would reveal the reader to their server.
import type { ReactNode } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import './markdown.css';

const REMARK: Options['remarkPlugins'] = [remarkGfm];

/** Shows a result, an answer in a chat, or the message of a task. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={REMARK} components={OF_RUN}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** Shows the guide of a published workflow. */
export function Guide({ text }: { text: string }) {
  return (
    <div className="guide">
      <ReactMarkdown remarkPlugins={REMARK} components={OF_GUIDE}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

// Headings start at level 3, because the pages use levels 1 and 2.
const OF_RUN: Components = {
  a: ({ href, children }) => <Elsewhere href={href}>{children}</Elsewhere>,
  img: ({ src, alt }) => (
    <Elsewhere href={typeof src === 'string' ? src : undefined}>
      Picture: {alt === undefined || alt === '' ? 'without a description' : alt}
    </Elsewhere>
  ),
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
};

const OF_GUIDE: Components = {
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  a: ({ href, children }) => <Elsewhere href={href}>{children}</Elsewhere>,
  img: ({ src, alt }) => (
    <Elsewhere href={typeof src === 'string' ? src : undefined}>{alt ? `Picture: ${alt}` : 'Picture'}</Elsewhere>
  ),
};

/** Links that are not external, such as anchors, are shown as text. */
function Elsewhere({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (href === undefined || !/^(?:https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children}
    </a>
  );
}
