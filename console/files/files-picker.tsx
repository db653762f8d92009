// Fields of nodes that accept files: uploaded files as literals, others by variables.
import { use, type ReactNode } from 'react';
import { isObject } from '../../graph/json.js';
import { asObject } from '../ui/json.js';
import { VariableText } from '../forms/fields.js';
import { FormContext, useFieldError, type SchemaFieldProps } from '../forms/form.js';
import { descriptionOf } from '../forms/schema.js';
import { Button } from '../ui/button.js';
import { Hint, SelectField } from '../ui/fields.js';
import { formatBytes } from '../ui/format.js';
import { toVisibleText } from '../ui/visible-json.js';
import { useFiles } from './file-calls.js';
import { FileField } from './file-field.js';
import { toFile, type FileValue } from '../service/file-value.js';
import './files.css';

/** Controls by `format`. `form-files` is a form as a record whose values are texts or files. */
const CONTROLS = { file: OneFilePicker, files: FilesPicker, 'form-files': FormFilesPicker } as const;

type PickerProps = SchemaFieldProps & { projectId: number };

/** Returns the control for a format, or undefined if the format is not about files. */
export function filesControl(format: string, props: PickerProps): ReactNode {
  if (!Object.hasOwn(CONTROLS, format)) return undefined;
  const Control = CONTROLS[format as keyof typeof CONTROLS];
  return <Control {...props} />;
}

function OneFilePicker({ path, value, onChange, ...props }: PickerProps) {
  const items = value === undefined || value === '' ? [] : [value];
  return <Picker {...props} path={path} items={items} onItems={(next) => onChange(path, next.at(-1) ?? '')} />;
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
};

function Picker({ schema, path, label, projectId, items, onItems }: ItemsProps) {
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
        onText={() => onItems([...items, ''])}
        onFile={(file) => onItems([...items, file])}
      />
    </Frame>
  );
}

function FormFilesPicker({ schema, path, label, value, projectId, onChange }: PickerProps) {
  const rows = Object.entries(asObject(value));
  const set = (next: [string, unknown][]): void => onChange(path, Object.fromEntries(next));
  const add = (name: string, added: unknown): void => set([...rows, [freeName(name, rows), added]]);
  return (
    <Frame {...{ schema, path, label }}>
      {rows.map(([name, part], at) => (
        <div className="file-row" key={at}>
          <input
            className="control"
            aria-label={`${label} ${at + 1} name`}
            placeholder="Name"
            spellCheck={false}
            value={name}
            onChange={({ target }) => {
              const isFree = rows.every(([other], index) => index === at || other !== target.value);
              if (isFree) set(rows.with(at, [target.value, part]));
            }}
          />
          <Item
            label={`${label} ${at + 1} value`}
            path={[...path, name]}
            value={part}
            onChange={(next) => set(rows.with(at, [name, next]))}
            onRemove={() => set(rows.toSpliced(at, 1))}
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

function freeName(name: string, rows: readonly (readonly [string, unknown])[]): string {
  const used = new Set(rows.map(([each]) => each));
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

/** A literal file shows its name. Any other value is a text with variables. */
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
  onText: () => void;
  onFile: (file: FileValue) => void;
}

function Adders({ projectId, textLabel, onText, onFile }: AddersProps) {
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
      <Button variant="quiet" className="file-add" onClick={onText}>
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
