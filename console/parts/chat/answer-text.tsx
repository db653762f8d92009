import { lazy, Suspense, useDeferredValue, useMemo } from 'react';
import { parseJson } from '../../../graph/json-text.js';
import { parseStructure } from '../../ui/json.js';
import { Loading } from '../../ui/notices.js';
import { partOf } from '../../ui/part-of.js';
import { toVisibleJson } from '../../ui/visible-json.js';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

/**
 * Longer texts are rendered as Markdown only when complete, because parsing them again with each word would be slow.
 */
const MOST_WHILE_WRITING = 32_768;

interface AnswerTextProps {
  text: string;
  isWriting?: boolean;
}

/** Shows an answer as Markdown, or as JSON if it is JSON. */
export function AnswerText({ text, isWriting = false }: AnswerTextProps) {
  const shown = useDeferredValue(text);
  const isJson = useMemo(() => !isWriting && parseStructure(shown) !== undefined, [shown, isWriting]);
  const part = useMemo(() => partOf(isJson ? toVisibleJson(parseJson(shown)) : shown), [shown, isJson]);
  const isPlain = isJson || (isWriting && shown.length > MOST_WHILE_WRITING);
  return (
    <>
      {isPlain ? (
        <pre className="chat-plain">{part.text}</pre>
      ) : (
        <Suspense fallback={<Loading />}>
          <Markdown text={part.text} />
        </Suspense>
      )}
      {!part.isWhole && !isWriting && <p className="chat-hint">This is the beginning. Its run has all of it.</p>}
    </>
  );
}
