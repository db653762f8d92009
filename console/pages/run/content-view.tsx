import { lazy, Suspense, useMemo, useState } from 'react';
import { isStructure, parseStructure, summaryOf, WrittenNumber } from '../../drawing/json.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { download } from '../../ui/download.js';
import { SelectField } from '../../ui/fields.js';
import { formatBytes } from '../../ui/format.js';
import { Loading } from '../../ui/notices.js';
import { linesAround, partOf } from '../../ui/part-of.js';
import './content-view.css';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

type Form = 'text' | 'json' | 'markdown';
const ENDINGS = { text: 'txt', json: 'json', markdown: 'md' } as const;

interface ContentViewProps {
  text: string;
  /** Names the file of a download. */
  name: string;
  /** Whether a model has written it: then it is Markdown unless it is JSON. */
  isAnswer: boolean;
}

/**
 * A text of a run: as text, as a tree if it is JSON, or as Markdown. Only the beginning of a large text is shown, and
 * all of it can be downloaded.
 */
export function ContentView({ text, name, isAnswer }: ContentViewProps) {
  const part = useMemo(() => partOf(text), [text]);
  const structure = useMemo(() => (part.isWhole ? parseStructure(text) : undefined), [part, text]);
  const usual: Form = structure !== undefined ? 'json' : isAnswer ? 'markdown' : 'text';
  const [chosen, setChosen] = useState<Form>();
  const form = chosen ?? usual;
  const save = (): void => download(toFileName(name, ENDINGS[usual]), text, 'text/plain;charset=utf-8');
  if (text === '') return <p className="content-empty">The content is empty.</p>;
  return (
    <div className="content">
      <div className="content-bar">
        <SelectField
          label="Show as"
          value={form}
          options={[
            ...(structure === undefined ? [] : [{ value: 'json', label: 'JSON' }]),
            { value: 'text', label: 'Text' },
            { value: 'markdown', label: 'Markdown' },
          ]}
          onChange={(value) => setChosen(value as Form)}
        />
        <CopyButton text={text} label="Copy" />
        <Button onClick={save}>Download</Button>
      </div>
      {!part.isWhole && (
        <p className="content-part">
          The first {formatBytes(64 * 1024)} of {formatBytes(new Blob([text]).size)}. The download has all of it.
        </p>
      )}
      {form === 'json' && structure !== undefined && <JsonTree value={structure} />}
      {form === 'text' && <pre className="content-text">{part.text}</pre>}
      {form === 'markdown' && (
        <Suspense fallback={<Loading />}>
          <div className="content-markdown">
            <Markdown text={part.text} />
          </div>
        </Suspense>
      )}
    </div>
  );
}

interface JsonTreeProps {
  value: unknown;
  /** Levels that are open at first. */
  depth?: number;
}

/** The number of entries of an object or array that are shown at a time. */
const STEP = 100;
const STRING_BYTES = 4 * 1024;

/** JSON as a tree. Objects and arrays fold, and folded ones are not rendered. */
export function JsonTree({ value, depth = 2 }: JsonTreeProps) {
  if (!isStructure(value) || isEmpty(value)) {
    return (
      <div className="json-tree">
        <Leaf value={value} />
      </div>
    );
  }
  return (
    <div className="json-tree">
      <Entries value={value} depth={depth} />
    </div>
  );
}

function Entries({ value, depth }: { value: object; depth: number }) {
  const [count, setCount] = useState(STEP);
  const entries = Object.entries(value);
  return (
    <ul className="json-tree-entries">
      {entries.slice(0, count).map(([key, item]) => (
        <li key={key}>
          {isStructure(item) ? <Branch name={key} value={item} depth={depth - 1} /> : leafOf(key, item)}
        </li>
      ))}
      {entries.length > count && (
        <li>
          <Button variant="quiet" onClick={() => setCount(count + STEP)}>
            Show {Math.min(STEP, entries.length - count)} more of {entries.length}
          </Button>
        </li>
      )}
    </ul>
  );
}

function Branch({ name, value, depth }: { name: string; value: object; depth: number }) {
  const [isOpen, setIsOpen] = useState(depth > 0);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className="json-tree-key">{name}</span> <span className="json-tree-muted">{summaryOf(value)}</span>
      </summary>
      {isOpen && <Entries value={value} depth={depth} />}
    </details>
  );
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function leafOf(name: string, value: unknown) {
  return (
    <>
      <span className="json-tree-key">{name}</span>: <Leaf value={value} />
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  if (isStructure(value)) return <span className="json-tree-muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  if (value === '') return <span className="json-tree-muted">&quot;&quot;</span>;
  if (typeof value !== 'string') {
    return <span className="json-tree-literal">{value instanceof WrittenNumber ? value.text : String(value)}</span>;
  }
  const part = isWhole ? { text: value, isWhole } : partOf(value, STRING_BYTES);
  return (
    <>
      <span className="json-tree-string">{part.text}</span>
      {!part.isWhole && (
        <>
          {'… '}
          <Button variant="quiet" onClick={() => setIsWhole(true)}>
            Show all {value.length} characters
          </Button>
        </>
      )}
    </>
  );
}

interface CodeLinesProps {
  code: string;
  /** The number of the line that is marked, from 1. */
  marked: number | undefined;
}

/** Code with the numbers of its lines. Of long code only the part around the marked line is shown. */
export function CodeLines({ code, marked }: CodeLinesProps) {
  const { lines, first, total } = linesAround(code, marked);
  return (
    <section className="node-part" aria-label="Code">
      <h3>Code</h3>
      {lines.length < total && (
        <p className="node-hint">
          Lines {first} to {first + lines.length - 1} of {total} are shown.
        </p>
      )}
      {/* The tabindex lets people scroll it by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="code-lines" role="group" aria-label="Lines" tabIndex={0}>
        <ol>
          {lines.map((text, index) =>
            first + index === marked ? (
              <li key={first + index} data-line={first + index} className="code-line-marked" ref={showInTheMiddle}>
                <mark>{text}</mark>
              </li>
            ) : (
              <li key={first + index} data-line={first + index}>
                {text}
              </li>
            ),
          )}
        </ol>
      </div>
    </section>
  );
}

/** Scrolls the code and not the page. */
function showInTheMiddle(line: HTMLLIElement | null): void {
  const box = line?.offsetParent;
  if (line && box) box.scrollTop = line.offsetTop - (box.clientHeight - line.offsetHeight) / 2;
}

/** Returns a name that every file system takes. */
function toFileName(label: string, ending: 'json' | 'md' | 'txt'): string {
  const plain = label.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
  return `${plain.slice(0, 80) || 'result'}.${ending}`;
}
