import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Elsewhere } from './elsewhere.js';
import './markdown.css';

/**
 * What a model has written, as Markdown. Markup in it is text, links open apart without telling where they come from, and
 * pictures are not loaded: whoever serves them would learn who reads.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <Elsewhere href={href}>{children}</Elsewhere>,
  img: ({ src, alt }) => (
    <Elsewhere href={typeof src === 'string' ? src : undefined}>
      Picture: {alt === undefined || alt === '' ? 'without a description' : alt}
    </Elsewhere>
  ),
  // The page has a heading of its own.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
};
