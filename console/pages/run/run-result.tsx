import { lazy, Suspense, useMemo } from 'react';
import { isObject, ownValue, parseStructure } from '../../drawing/json.js';
import type { RunLinks } from '../../drawing/run-links.js';
import type { NodeEntry } from '../../live/live-run.js';
import { Button } from '../../ui/button.js';
import { Loading } from '../../ui/notices.js';
import { partOf } from '../../ui/part-of.js';
import { JsonTree } from './json-tree.js';
import { readResult } from './result-parts.js';
import type { NodeChoice } from './run-address.js';
import type { RunDetail } from './run-data.js';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

interface RunResultProps {
  run: RunDetail;
  links: RunLinks;
  labels: ReadonlyMap<string, string>;
  onSelect: (choice: NodeChoice) => void;
}

/** The result of a run that has succeeded: that of the node with which it ended. The node has the whole of it. */
export function RunResult({ run, links, labels, onSelect }: RunResultProps) {
  const last = useMemo(() => lastNode(run, links), [run, links]);
  if (last === undefined || run.results_expired_at !== undefined) return null;
  return (
    <section aria-label="Result of the run" className="run-result">
      <header>
        <h2>Result</h2>
        <Button variant="quiet" onClick={() => onSelect({ nodeId: last.id, path: '' })}>
          From {labels.get(last.id) ?? last.id}
        </Button>
      </header>
      {/* The tabindex lets people scroll it by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="run-result-body" role="group" aria-label="Value" tabIndex={0}>
        <Value result={last.result} />
      </div>
    </section>
  );
}

/** So much of a text is shown here. */
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

/** Returns the node with a result behind which nothing has run; of several, the one that ended last. */
function lastNode({ status, result }: RunDetail, { links }: RunLinks): NodeEntry | undefined {
  if (status !== 'Succeeded') return undefined;
  const entries = Object.values(result) as NodeEntry[];
  const hasRun = new Set(entries.map(({ id }) => id));
  const goesOn = new Set(links.filter(({ to }) => hasRun.has(to)).map(({ from }) => from));
  return entries
    .filter((entry) => entry.status === 'succeed' && !goesOn.has(entry.id) && isObject(entry.result))
    .toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1))
    .at(-1);
}
