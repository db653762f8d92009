import { useState } from 'react';
import { asObject } from '../drawing/json.js';
import { Button } from '../ui/button.js';
import { Hint } from '../ui/fields.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { MASK } from '../drawing/drawing.js';
import { currentRows, toRecord, toRows, type RecordRow } from './record-rows.js';
import { RecordValue } from './record-value.js';
import { descriptionOf, typesOf } from './schema.js';

/** Names with values, such as the headers of a request. */
export function RecordField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const [written, setWritten] = useState(() => toRows(value) as readonly RecordRow[]);
  const rows = currentRows(written, value);
  const change = (next: readonly RecordRow[]): void => {
    setWritten(next);
    onChange(path, toRecord(next));
  };
  const isText = typesOf(asObject(schema['additionalProperties'])).includes('string');
  const hasSecret = rows.some((row) => row.value === MASK);
  return (
    <fieldset className="form-group" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      {descriptionOf(schema) !== undefined && <Hint>{descriptionOf(schema)}</Hint>}
      {rows.map((row, at) => (
        <Row
          key={at}
          label={`${label} ${at + 1}`}
          isText={isText}
          path={[...path, row.name]}
          row={row}
          onChange={(next) => change(rows.with(at, next))}
          onRemove={() => change(rows.toSpliced(at, 1))}
        />
      ))}
      {hasSecret && (
        <p className="field-hint">{MASK} stands for a stored secret. It is kept until you write another one.</p>
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Button onClick={() => setWritten([...rows, { name: '', value: '' }])}>Add to {label}</Button>
    </fieldset>
  );
}

interface RowProps {
  label: string;
  isText: boolean;
  path: readonly (string | number)[];
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
