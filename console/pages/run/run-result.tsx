import { lazy, Suspense, useMemo } from 'react';
import { ownValue } from '../../../graph/json.js';
import { parseStructure } from '../../ui/json.js';
import type { RunLinks } from '../../drawing/run-links.js';
import { FilesOf } from '../../files/file-figure.js';
import { Button } from '../../ui/button.js';
import { Loading } from '../../ui/notices.js';
import { partOf } from '../../ui/part-of.js';
import { JsonTree } from '../../parts/node-result/json-tree.js';
import { readResult } from '../../parts/node-result/result-parts.js';
import type { NodeChoice } from '../../parts/run/node-choice.js';
import { resultNodeOf } from '../../parts/run/outcome.js';
import type { RunDetail } from '../../parts/run/run-data.js';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

interface RunResultProps {
  run: RunDetail;
  links: RunLinks;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
}

/**
 * The result of a successful run: the result of its last node. Hidden while that node is selected, because the node
 * panel shows the same result.
 */
export function RunResult({ run, links, labels, choice, onSelect }: RunResultProps) {
  const last = useMemo(() => resultNodeOf(run, links), [run, links]);
  if (last === undefined || last.id === choice?.nodeId || run.results_expired_at !== undefined) return null;
  return (
    <section aria-label="Result of the run" className="run-result">
      <header>
        <h2>Result</h2>
        <Button variant="quiet" onClick={() => onSelect({ nodeId: last.id, path: '' })}>
          From {labels.get(last.id) ?? last.id}
        </Button>
      </header>
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="run-result-body" role="group" aria-label="Value" tabIndex={0}>
        <Value result={last.result} />
        <FilesOf value={last.result} />
      </div>
    </section>
  );
}

/** A longer text is cut to this size. */
const SHOWN_BYTES = 8 * 1024;

function Value({ result }: { result: unknown }) {
  const { content, isAnswer, rest } = useMemo(() => readResult(result), [result]);
  const structure = useMemo(() => (content === undefined ? undefined : parseStructure(content)), [content]);
  if (content === undefined) return <JsonTree value={ownValue(rest, 'content') ?? rest} depth={1} />;
  if (structure !== undefined) return <JsonTree value={structure} depth={1} />;
  if (content === '') return <p>The content is empty.</p>;
  const part = partOf(content, SHOWN_BYTES);
  return (
    <>
      {isAnswer ? (
        <Suspense fallback={<Loading />}>
          <Markdown text={part.text} />
        </Suspense>
      ) : (
        <pre>{part.text}</pre>
      )}
      {!part.isWhole && <p>This is the beginning. The node has the whole of it.</p>}
    </>
  );
}
