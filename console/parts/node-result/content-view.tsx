import { lazy, Suspense, useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { download } from '../../ui/download.js';
import { SelectField } from '../../ui/fields.js';
import { formatBytes } from '../../ui/format.js';
import { Loading } from '../../ui/notices.js';
import { linesAround, partOf } from '../../ui/part-of.js';
import { formsOf, type ContentForms, type Form } from './content-forms.js';
import './content-view.css';
import { toFileName } from './file-name.js';
import { JsonTable } from './json-table.js';
import { SearchedTree } from './json-tree.js';

const Markdown = lazy(() => import('../../ui/markdown.js').then((module) => ({ default: module.Markdown })));

const ENDINGS = { text: 'txt', json: 'json', table: 'json', markdown: 'md' } as const;

/**
 * A text and the form in which it is shown. The caller of `ContentView` calls `useContent`, because the form also
 * decides what else the caller shows.
 */
export interface ShownContent {
  text: string;
  forms: ContentForms;
  form: Form;
  choose: (form: Form) => void;
}

/** `isAnswer`: a model wrote the text. */
export function useContent(text: string, isAnswer: boolean): ShownContent {
  const forms = useMemo(() => formsOf(text, isAnswer), [text, isAnswer]);
  const [chosen, choose] = useState<Form>();
  return { text, forms, form: chosen ?? forms.usual, choose };
}

interface ContentViewProps {
  content: ShownContent;
  /** Base name of the downloaded file. */
  name: string;
  /** The variable to which the paths in a JSON text are appended, such as `NODE.result`. */
  root: string;
}

/**
 * Shows a text as JSON tree, table, Markdown or plain text. A long text is cut, and a tree only renders open branches;
 * the download has everything.
 */
export function ContentView({ content, name, root }: ContentViewProps) {
  const { text, form, choose } = content;
  const { structure, tables, usual } = content.forms;
  const part = useMemo(() => partOf(text), [text]);
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
            ...(tables.length === 0 ? [] : [{ value: 'table', label: 'Table' }]),
            { value: 'text', label: 'Text' },
            { value: 'markdown', label: 'Markdown' },
          ]}
          onChange={(value) => choose(value as Form)}
        />
        <CopyButton text={text} label="Copy" />
        <Button onClick={save}>Download</Button>
      </div>
      {!part.isWhole && (form === 'text' || form === 'markdown') && (
        <p className="content-part">
          The first {formatBytes(64 * 1024)} of {formatBytes(new Blob([text]).size)}. The download has all of it.
        </p>
      )}
      {form === 'json' && structure !== undefined && <SearchedTree value={structure} root={root} />}
      {form === 'table' &&
        tables.map((table) => (
          <JsonTable key={table.path.join(' ')} table={table} name={[name, ...table.path].join(' › ')} />
        ))}
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

interface CodeLinesProps {
  code: string;
  /** Number of the marked line, from 1. */
  marked: number | undefined;
}

/** Code with line numbers. Long code is cut to the lines around the marked one, or to its first lines. */
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
      {/* Focusable, so that keyboard users can scroll it. */}
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

/** `scrollIntoView` would also scroll the page. */
function showInTheMiddle(line: HTMLLIElement | null): void {
  const box = line?.offsetParent;
  if (line && box) box.scrollTop = line.offsetTop - (box.clientHeight - line.offsetHeight) / 2;
}
