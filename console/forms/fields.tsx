import { useState, type KeyboardEvent } from 'react';
import { MASK } from '../../graph/mask-text.js';
import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { Button } from '../ui/button.js';
import {
  CheckboxField,
  Field,
  Hint,
  labelIdOf,
  SelectField,
  TextField,
  type ControlProps,
  type SelectOption,
} from '../ui/fields.js';
import { useFieldError, type SchemaFieldProps } from './form.js';
import { itemNoun } from './item-noun.js';
import { descriptionOf, typesOf, type Path } from './schema.js';
import type { Attributes } from './source-editor.js';
import { currentRows, fromJsonText, parseNumber, toJsonText, toRecord, toRows, type RecordRow } from './values.js';
import { VariableInput } from './variable-input.js';

/** Selects one of the schema's values. An unknown value remains selected and visible. */
export function ChoiceField(props: SchemaFieldProps) {
  const { schema, path, value, onChange } = props;
  const values = asArray(schema['enum']);
  const current = value === undefined ? schema['default'] : value;
  const at = values.findIndex((each) => each === current);
  const options = values.map((each, index) => ({
    value: typeof each === 'string' ? each : String(index),
    label: labelOf(schema, each),
  }));
  const isOther = at < 0;
  const other = { value: '', label: current === undefined || current === null ? 'Choose…' : labelOf(schema, current) };
  return (
    <SchemaSelect
      field={props}
      value={isOther ? '' : (options[at]?.value ?? '')}
      options={isOther ? [other, ...options] : options}
      onChoose={(chosen) => {
        const next = values[options.findIndex((option) => option.value === chosen)];
        if (next !== undefined) onChange(path, next);
      }}
    />
  );
}

/** Returns the schema's label for a value, else the value as a text, such as `is empty` for `is_empty`. */
function labelOf(schema: JsonObject, value: unknown): string {
  const known = asText(asObject(schema['labels'])[String(value)]);
  return known ?? (typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value));
}

const OTHER = '\u0000other';

/** Selects one of the schema's examples, or accepts any other text. */
export function SuggestionsField(props: SchemaFieldProps) {
  const { schema, path, value, onChange } = props;
  const examples = asArray(schema['examples']).map(String);
  const current = value === undefined || value === null ? schema['default'] : value;
  const isExample = typeof current === 'string' && examples.includes(current);
  const [isOwn, setIsOwn] = useState(!isExample && current !== undefined);
  if (isOwn) return <VariableText {...props} />;
  const options = examples.map((example) => ({ value: example, label: example }));
  return (
    <SchemaSelect
      field={props}
      value={isExample ? current : ''}
      options={[
        ...(isExample ? [] : [{ value: '', label: 'Choose…' }]),
        ...options,
        { value: OTHER, label: 'Another value…' },
      ]}
      onChoose={(chosen) => {
        if (chosen === OTHER) setIsOwn(true);
        else onChange(path, chosen);
      }}
    />
  );
}

interface SchemaSelectProps {
  field: SchemaFieldProps;
  /** The value of the selected option, empty for the option that stands for no value or an unknown one. */
  value: string;
  options: readonly SelectOption[];
  onChoose: (value: string) => void;
}

export function SchemaSelect({ field, value, options, onChoose }: SchemaSelectProps) {
  const { schema, path, label, isRequired = false } = field;
  const error = useFieldError(path);
  return (
    <div data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
        value={value}
        options={options}
        onChange={onChoose}
      />
    </div>
  );
}

/**
 * Makes arrow keys open the list. By default they would select each option on the way and change the drawing each time.
 * A browser without `showPicker`, such as an older Safari, keeps its default: otherwise the keys would do nothing.
 */
export function openWithArrows(event: KeyboardEvent<HTMLSelectElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  if (!('showPicker' in event.currentTarget)) return;
  event.preventDefault();
  event.currentTarget.showPicker();
}

/** A text with variables. The field grows with its content. */
export function VariableText(props: SchemaFieldProps & { isLong?: boolean }) {
  const { schema, path, label, value, isRequired = false, onChange, isLong = false } = props;
  const error = useFieldError(path);
  const text = value === undefined || value === null ? '' : toText(value);
  const isNullable = typesOf(schema).includes('null');
  const hint =
    text === MASK ? 'A secret is stored here. It is kept until you write another one.' : descriptionOf(schema);
  const change = (written: string): void => {
    const isGone = written === '' && !isRequired;
    onChange(path, isGone ? (isNullable ? null : undefined) : written);
  };
  return (
    <div data-path={path.join('.')}>
      <Field label={label} hint={hint} error={error} isRequired={isRequired}>
        {(control) => (
          <VariableInput
            attributes={attributesOf(control)}
            value={text}
            isLong={isLong}
            enlarged={isLong ? label : undefined}
            onChange={change}
          />
        )}
      </Field>
    </div>
  );
}

/**
 * Returns attributes for a textbox that is not a form element, and therefore has no `required` property and is not
 * named by `label for`.
 */
export function attributesOf({ required: _only, ...control }: ControlProps): Attributes {
  const attributes = { ...control, 'aria-labelledby': labelIdOf(control.id) };
  const known = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

/** Drawings may have a number instead of a text. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Accepts any text. A text that is not a number, such as a variable, stays text, and the service checks it. */
export function NumberField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const shown = value === undefined || value === null ? '' : toText(value);
  const [written, setWritten] = useState(shown);
  // Keeps the typed text while it means the stored number: `1.` and `1.0` are stored as 1, and typing may go on.
  const text = String(parseNumber(written) ?? '') === shown ? written : shown;
  const fallback = schema['default'];
  const parts = [descriptionOf(schema), fallback === undefined ? undefined : `${toText(fallback)} unless set`];
  const hint = parts.filter((part) => part !== undefined).join('; ');
  return (
    <div data-path={path.join('.')}>
      <TextField
        label={label}
        hint={hint === '' ? undefined : hint}
        error={error}
        isRequired={isRequired}
        inputMode="decimal"
        value={text}
        onChange={(next) => {
          setWritten(next);
          onChange(path, parseNumber(next));
        }}
      />
    </div>
  );
}

export function SwitchField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const isChecked = typeof value === 'boolean' ? value : schema['default'] === true;
  return (
    <div data-path={path.join('.')}>
      <CheckboxField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isChecked={isChecked}
        onChange={(next) => onChange(path, next)}
      />
    </div>
  );
}

/** Edits names with values, such as request headers. */
export function RecordField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const [written, setWritten] = useState(() => toRows(value) as readonly RecordRow[]);
  return (
    <RecordTable
      label={label}
      path={path}
      hint={descriptionOf(schema)}
      rows={currentRows(written, value)}
      isText={typesOf(asObject(schema['additionalProperties'])).includes('string')}
      onChange={(next) => {
        setWritten(next);
        onChange(path, toRecord(next));
      }}
    />
  );
}

interface RecordTableProps {
  label: string;
  path: Path;
  hint?: string | undefined;
  rows: readonly RecordRow[];
  /** True if values are texts; otherwise they are any JSON. */
  isText: boolean;
  onChange: (rows: readonly RecordRow[]) => void;
}

export function RecordTable({ label, path, hint, rows, isText, onChange }: RecordTableProps) {
  const error = useFieldError(path);
  const hasSecret = rows.some((row) => row.value === MASK);
  return (
    <fieldset className="form-group form-table" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {rows.length > 0 && hint !== undefined && <Hint>{hint}</Hint>}
      {rows.map((row, at) => (
        <Row
          key={at}
          label={`${label} ${at + 1}`}
          isText={isText}
          path={[...path, row.name]}
          row={row}
          onChange={(next) => onChange(rows.with(at, next))}
          onRemove={() => onChange(rows.toSpliced(at, 1))}
        />
      ))}
      {hasSecret && (
        <p className="field-hint">{MASK} stands for a stored secret. It is kept until you write another one.</p>
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button variant="quiet" onClick={() => onChange([...rows, { name: '', value: '' }])}>
        <span aria-hidden="true">+</span> Add {itemNoun(label)}
      </Button>
    </fieldset>
  );
}

interface RowProps {
  label: string;
  isText: boolean;
  path: Path;
  row: RecordRow;
  onChange: (row: RecordRow) => void;
  onRemove: () => void;
}

function Row({ label, isText, path, row, onChange, onRemove }: RowProps) {
  const error = useFieldError(path);
  return (
    <div className="form-record" data-path={path.join('.')}>
      <input
        className="control"
        aria-label={`${label} name`}
        placeholder="Name"
        spellCheck={false}
        value={row.name}
        onChange={({ target }) => onChange({ ...row, name: target.value })}
      />
      <RecordValue
        label={`${label} value`}
        value={row.value}
        isText={isText}
        isWrong={error !== undefined}
        onChange={(value) => onChange({ ...row, value })}
      />
      <Button variant="quiet" aria-label={`Remove ${label}`} onClick={onRemove}>
        <span aria-hidden="true">✕</span>
      </Button>
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}

interface RecordValueProps {
  label: string;
  value: unknown;
  isText: boolean;
  isWrong: boolean;
  onChange: (value: unknown) => void;
}

/** Edits one value: with `isText` a text, else JSON. A text that is not JSON, such as a variable, stays text. */
function RecordValue({ label, value, isText, isWrong, onChange }: RecordValueProps) {
  const shown = shownAs(value, isText);
  const [written, setWritten] = useState(shown);
  // Keeps the typed text while it means the stored value: `1.0` is stored as 1, and typing may go on.
  const text = !isText && isEqualJson(toValue(written), value) ? written : shown;
  return (
    <VariableInput
      attributes={{ 'aria-label': label, ...(isWrong && { 'aria-invalid': 'true' }) }}
      value={text}
      isValue
      onChange={(next) => {
        setWritten(next);
        onChange(isText ? next : toValue(next));
      }}
    />
  );
}

function shownAs(value: unknown, isText: boolean): string {
  if (isText) return typeof value === 'string' ? value : JSON.stringify(value);
  return value === '' ? '' : toJsonText(value);
}

function toValue(text: string): unknown {
  return fromJsonText(text) ?? (text.trim() === '' ? text : null);
}
