import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '../ui/button.js';
import { FieldHead, Hint } from '../ui/fields.js';
import { formatBytes } from '../ui/format.js';
import { useStored } from '../ui/store.js';
import { filesOfText, UPLOADING, type FileValue } from '../service/file-value.js';
import { FileDrop } from './file-drop.js';
import './files.css';
import { createUploads, type Chosen, type Uploads } from './uploads.js';

interface FileFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  isRequired?: boolean;
  projectId: number;
  isMany: boolean;
  /** Called with each uploaded file. With `onArrived`, the field keeps no value of its own. */
  onArrived?: ((value: FileValue) => void) | undefined;
  /** JSON text of the file, or of the list of files; empty if there is none. Read only when the field mounts. */
  value: string;
  onChange?: ((value: string) => void) | undefined;
}

/** A field for files, which are uploaded when selected or dropped. */
export function FileField(props: FileFieldProps) {
  const { label, hint, error, isRequired = false, projectId, isMany, value, onChange, onArrived } = props;
  const id = useId();
  const [uploads] = useState(() => createUploads({ projectId, isMany, initial: filesOfText(value) }));
  const items = useStored(uploads, (state) => state);
  const described = [
    isRequired && `${id}required`,
    hint !== undefined && `${id}hint`,
    error !== undefined && `${id}error`,
  ]
    .filter(Boolean)
    .join(' ');
  useReport(uploads, { isMany, onChange, onArrived });
  return (
    <div role="group" className="field" aria-labelledby={`${id}label`}>
      <FieldHead isRequired={isRequired}>
        <span className="field-label" id={`${id}label`}>
          {label}
        </span>
      </FieldHead>
      {isRequired && (
        <span className="hidden-text" id={`${id}required`}>
          Required
        </span>
      )}
      <FileDrop
        isMany={isMany}
        describedBy={described === '' ? undefined : described}
        onFiles={(files) => uploads.choose(files)}
      />
      {items.length > 0 && (
        <ul className="file-list" aria-label={`Files of ${label}`}>
          {items.map((item) => (
            <OneFile key={item.key} item={item} uploads={uploads} />
          ))}
        </ul>
      )}
      {hint !== undefined && <Hint id={`${id}hint`}>{hint}</Hint>}
      {error !== undefined && (
        <p className="field-error" id={`${id}error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/**
 * Reports changes of the value to the form. When the field unmounts, aborts running uploads and reports the value
 * without them.
 */
function useReport(uploads: Uploads, props: Pick<FileFieldProps, 'isMany' | 'onChange' | 'onArrived'>): void {
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    let reported: string | undefined;
    const unsubscribe = uploads.subscribe(() => {
      const { isMany, onChange, onArrived } = latest.current;
      const items = uploads.getState();
      const arrived = onArrived && items.find(({ value }) => value !== undefined);
      if (arrived !== undefined) {
        // `remove` notifies this listener again, which then handles the next file.
        uploads.remove(arrived.key);
        onArrived?.(arrived.value!);
        return;
      }
      const text = textOf(items, isMany);
      if (text !== reported) onChange?.((reported = text));
    });
    return () => {
      uploads.abort();
      unsubscribe();
    };
  }, [uploads]);
}

function textOf(items: readonly Chosen[], isMany: boolean): string {
  const values = items.flatMap(({ value }) => value ?? []);
  if (values.length < items.length) return UPLOADING;
  if (values.length === 0) return '';
  return JSON.stringify(isMany ? values : values[0]);
}

function OneFile({ item, uploads }: { item: Chosen; uploads: Uploads }) {
  const { key, name, size, sent, value, problem } = item;
  return (
    <li className="file-item">
      <span className="file-item-name">{name}</span>
      <span className="file-item-size">{formatBytes(size)}</span>
      {value === undefined && problem === undefined && (
        <progress className="file-item-progress" aria-label={`Upload of ${name}`} value={sent} max={1} />
      )}
      {problem !== undefined && (
        <span className="file-item-problem" role="alert">
          Not uploaded. {problem}
        </span>
      )}
      {problem !== undefined && <Button onClick={() => uploads.retry(key)}>Try again</Button>}
      <Button variant="quiet" aria-label={`Remove ${name}`} onClick={() => uploads.remove(key)}>
        Remove
      </Button>
    </li>
  );
}
