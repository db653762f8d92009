import { useEffect, useId, useRef, useState, type DragEvent } from 'react';
import { Button } from '../ui/button.js';
import { classNames } from '../ui/class-names.js';
import { FieldHead, Hint } from '../ui/fields.js';
import { formatBytes } from '../ui/format.js';
import { useStored } from '../ui/store.js';
import { filesOfText, UPLOADING, type FileValue } from '../service/file-value.js';
import './files.css';
import { createUploads, type Chosen, type Uploads } from './uploads.js';

interface FileFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  isRequired?: boolean;
  projectId: number;
  isMany: boolean;
  /** Called with each uploaded file. The field then has no value of its own. */
  onArrived?: ((value: FileValue) => void) | undefined;
  /** JSON text of the file, or of the list of files; empty if there is none. */
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
      <DropArea uploads={uploads} isMany={isMany} describedBy={described === '' ? undefined : described} />
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

/** Reports changes of the value to the form. Aborts running uploads when the field unmounts. */
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

interface DropAreaProps {
  uploads: Uploads;
  isMany: boolean;
  describedBy: string | undefined;
}

function DropArea({ uploads, isMany, describedBy }: DropAreaProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <div
      className={classNames('file-drop', isOver && 'file-drop-over')}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        uploads.choose(event.dataTransfer.files);
      }}
    >
      <input
        ref={input}
        type="file"
        hidden
        multiple={isMany}
        onChange={({ target }) => {
          uploads.choose(target.files ?? []);
          // Otherwise selecting the same file again fires no change event.
          target.value = '';
        }}
      />
      <Button aria-describedby={describedBy} onClick={() => input.current?.click()}>
        Choose file
      </Button>
      <span className="file-drop-words">{isMany ? 'or drop files here' : 'or drop it here'}</span>
    </div>
  );
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
