import Markdown, { type Components, type Options } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Elsewhere } from './elsewhere.js';
import './guide.css';

const REMARK: Options['remarkPlugins'] = [remarkGfm];
const REHYPE: Options['rehypePlugins'] = [rehypeSanitize];

/**
 * Markdown of whoever has published the workflow. Markup in it is text, links open elsewhere and tell nothing of where
 * they were clicked, and pictures are links to them: looking at a guide asks no other origin for anything.
 */
export function Guide({ text }: { text: string }) {
  return (
    <div className="guide">
      <Markdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={COMPONENTS}>
        {text}
      </Markdown>
    </div>
  );
}

// The page has the first two levels of headings.
const COMPONENTS: Components = {
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
