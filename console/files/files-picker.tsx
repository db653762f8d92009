// Fields of nodes that accept files: uploaded files as literals, others by variables.
import { use, useState, type ReactNode } from 'react';
import { isObject } from '../../graph/json.js';
import { VariableText } from '../forms/fields.js';
import { FormContext, useFieldError, type SchemaFieldProps } from '../forms/form.js';
import { descriptionOf } from '../forms/schema.js';
import { currentRows, toRecord, toRows, type RecordRow } from '../forms/values.js';
import { Button } from '../ui/button.js';
import { Hint, SelectField } from '../ui/fields.js';
import { formatBytes } from '../ui/format.js';
import { toVisibleText } from '../ui/visible-json.js';
import { useFiles } from './file-calls.js';
import { FileField } from './file-field.js';
import { toFile, type FileValue } from '../service/file-value.js';
import './files.css';

/** Controls by `format`. A value of `form-files` is a request's form: a record of texts and files by field name. */
const CONTROLS = { file: OneFilePicker, files: FilesPicker, 'form-files': FormFilesPicker } as const;

type PickerProps = SchemaFieldProps & { projectId: number };

/** Returns the control for a format, or undefined if the format is not about files. */
export function filesControl(format: string, props: PickerProps): ReactNode {
  if (!Object.hasOwn(CONTROLS, format)) return undefined;
  const Control = CONTROLS[format as keyof typeof CONTROLS];
  return <Control {...props} />;
}

function OneFilePicker({ path, value, onChange, ...props }: PickerProps) {
  // `''` is stored for an empty text and for no file; the state says which of the two is shown.
  const [isText, setIsText] = useState(false);
  const items = value === undefined || (value === '' && !isText) ? [] : [value];
  const change = (next: unknown[]): void => {
    const last = next.at(-1);
    setIsText(typeof last === 'string');
    onChange(path, last ?? '');
  };
  return <Picker {...props} path={path} items={items} onItems={change} takesText={items.length === 0} />;
}

function FilesPicker({ path, value, onChange, ...props }: PickerProps) {
  const items: unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  // A single text is stored without a list, because its variable may itself contain a list.
  const store = (next: unknown[]): unknown => {
    if (next.length === 0) return undefined;
    return next.length === 1 && typeof next[0] === 'string' ? next[0] : next;
  };
  return <Picker {...props} path={path} items={items} onItems={(next) => onChange(path, store(next))} />;
}

type ItemsProps = Omit<PickerProps, 'value' | 'onChange'> & {
  items: unknown[];
  onItems: (items: unknown[]) => void;
  /** False if a further text would take the place of an item. */
  takesText?: boolean;
};

function Picker({ schema, path, label, projectId, items, onItems, takesText = true }: ItemsProps) {
  return (
    <Frame {...{ schema, path, label }}>
      {items.map((item, at) => (
        <Item
          key={at}
          label={`${label} ${at + 1}`}
          path={items.length === 1 ? path : [...path, at]}
          value={item}
          onChange={(next) => onItems(items.with(at, next))}
          onRemove={() => onItems(items.toSpliced(at, 1))}
        />
      ))}
      <Adders
        projectId={projectId}
        textLabel="Add variable"
        takesText={takesText}
        onText={() => onItems([...items, ''])}
        onFile={(file) => onItems([...items, file])}
      />
    </Frame>
  );
}

/** Shows a row for each text or file of the form. The items of a list have one name, so renaming one renames all. */
function FormFilesPicker({ schema, path, label, value, projectId, onChange }: PickerProps) {
  // State, because the value cannot hold a name that is empty or taken, as a name may be while a person types it.
  const [written, setWritten] = useState<readonly RecordRow[]>(() => toRows(value));
  const fields = currentRows(written, value);
  const rows = fields.flatMap(({ name, value: field }, of) =>
    partsOf(field).map((part, place, parts) => ({ name, part, of, place, parts })),
  );
  const set = (next: readonly RecordRow[]): void => {
    setWritten(next);
    onChange(path, toRecord(next));
  };
  const put = (of: number, parts: readonly unknown[]): void => {
    const { name, value: field } = fields[of]!;
    if (parts.length === 0) set(fields.toSpliced(of, 1));
    else set(fields.with(of, { name, value: Array.isArray(field) ? parts : parts[0] }));
  };
  const add = (name: string, added: unknown): void => set([...fields, { name: freeName(name, fields), value: added }]);
  return (
    <Frame {...{ schema, path, label }}>
      {rows.map(({ name, part, of, place, parts }, at) => (
        <div className="file-row" key={at}>
          <input
            className="control"
            aria-label={`${label} ${at + 1} name`}
            placeholder="Name"
            spellCheck={false}
            value={name}
            onChange={({ target }) => set(fields.with(of, { ...fields[of]!, name: target.value }))}
          />
          <Item
            label={`${label} ${at + 1} value`}
            path={parts.length === 1 ? [...path, name] : [...path, name, place]}
            value={part}
            onChange={(next) => put(of, parts.with(place, next))}
            onRemove={() => put(of, parts.toSpliced(place, 1))}
          />
        </div>
      ))}
      <Adders
        projectId={projectId}
        textLabel="Add text or variable"
        onText={() => add('text', '')}
        onFile={(file) => add('file', file)}
      />
    </Frame>
  );
}

function partsOf(field: unknown): unknown[] {
  return Array.isArray(field) ? field : [field];
}

function freeName(name: string, rows: readonly RecordRow[]): string {
  const used = new Set(rows.map((row) => row.name));
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? name : `${name}${number}`;
    if (!used.has(wanted)) return wanted;
  }
}

interface FrameProps extends Pick<SchemaFieldProps, 'schema' | 'path' | 'label'> {
  children: ReactNode;
}

function Frame({ schema, path, label, children }: FrameProps) {
  const error = useFieldError(path);
  const hint = descriptionOf(schema);
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {hint !== undefined && <Hint>{hint}</Hint>}
      {children}
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
}

interface ItemProps {
  label: string;
  path: SchemaFieldProps['path'];
  value: unknown;
  onChange: (value: unknown) => void;
  onRemove: () => void;
}

/** Shows a literal file by its name, any other object as `A file`, and any other value as a text with variables. */
function Item({ label, path, value, onChange, onRemove }: ItemProps) {
  const file = toFile(value);
  return (
    <div className="file-item">
      {file === undefined && !isObject(value) ? (
        <div className="file-item-name">
          <VariableText
            schema={{ type: 'string' }}
            path={path}
            label={label}
            value={value}
            onChange={(_path, text) => onChange(text ?? '')}
          />
        </div>
      ) : (
        <>
          <span className="file-item-name">{file === undefined ? 'A file' : toVisibleText(file.name)}</span>
          {file !== undefined && <span className="file-item-size">{formatBytes(file.size)}</span>}
        </>
      )}
      <Button variant="quiet" aria-label={`Remove ${label}`} onClick={onRemove}>
        <span aria-hidden="true">✕</span>
      </Button>
    </div>
  );
}

const OFFERED = 100;

interface AddersProps {
  projectId: number;
  textLabel: string;
  takesText?: boolean;
  onText: () => void;
  onFile: (file: FileValue) => void;
}

function Adders({ projectId, textLabel, takesText = true, onText, onFile }: AddersProps) {
  const { isReadOnly } = use(FormContext);
  const asked = { search: '', ordering: '-created_at', page: 1, size: OFFERED } as const;
  const files = useFiles(projectId, asked).data?.items ?? [];
  if (isReadOnly) return null;
  const options = [
    { value: '', label: 'Choose…' },
    ...files.map(({ file_id: id, name }) => ({ value: id, label: toVisibleText(name) })),
  ];
  return (
    <>
      <Button variant="quiet" className="file-add" disabled={!takesText} onClick={onText}>
        <span aria-hidden="true">+</span> {textLabel}
      </Button>
      {files.length > 0 && (
        <SelectField
          label="Uploaded file"
          value=""
          options={options}
          onChange={(id) => {
            const file = toFile(files.find((each) => each.file_id === id));
            if (file !== undefined) onFile(file);
          }}
        />
      )}
      <FileField label="Upload" projectId={projectId} isMany value="" onArrived={onFile} />
    </>
  );
}
