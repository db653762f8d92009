import { lazy, Suspense, useMemo, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CopyButton } from '../../../ui/copy-button.js';
import { SelectField } from '../../../ui/fields.js';
import { formatBytes } from '../../../ui/format.js';
import { Loading } from '../../../ui/notices.js';
import { partOf } from '../../../ui/part-of.js';
import './content-view.css';
import { download, toFileName } from './download.js';
import { JsonTree } from './json-tree.js';
import { parseStructure } from '../../../drawing/json.js';

const Markdown = lazy(() => import('./markdown.js').then((module) => ({ default: module.Markdown })));

type Form = 'text' | 'json' | 'markdown';
const ENDINGS = { text: 'txt', json: 'json', markdown: 'md' } as const;

interface ContentViewProps {
  text: string;
  /** Names the file of a download. */
  name: string;
  /** A model has written it: Markdown unless it is JSON. */
  isAnswer: boolean;
}

/** A text of a run: as text, as a tree where it is JSON, or as Markdown; the beginning of a large one, and all as a file. */
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
